"""Prime numbers, made when the module is imported."""


def below(limit):
    """All primes below a limit."""
    found = []
    for number in range(2, limit):
        if all(number % prime for prime in found if prime * prime <= number):
            found.append(number)
    return found


PRIMES = below(150000)
