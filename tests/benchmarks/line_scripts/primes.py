"""Primes by trial division: tight loops of a few lines."""

import sys


def is_prime(n):
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


def main(top):
    count = 0
    for n in range(top):
        if is_prime(n):
            count += 1
    return count


print(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
