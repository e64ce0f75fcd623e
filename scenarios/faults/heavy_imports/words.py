"""Words and the patterns that find them, made when the module is imported."""

import re

WORDS = ["%s%s%s%s" % (a, b, c, d) for a in "bcdfgh" for b in "aeiou" for c in "klmnp" for d in "aeiou"]
PATTERNS = [re.compile("(?:%s|%s)[a-z]{0,%d}" % (word, word[::-1], number)) for number, word in enumerate(WORDS)]
