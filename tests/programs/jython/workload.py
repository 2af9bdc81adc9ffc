# A fixed piece of work for Jython: text, numbers, classes, generators, exceptions, regular expressions.
import re
import sys


class Shape(object):
    def __init__(self, name, sides):
        self.name = name
        self.sides = sides

    def area(self):
        raise NotImplementedError(self.name)

    def __repr__(self):
        return "%s with %d sides" % (self.name, self.sides)


class Square(Shape):
    def __init__(self, length):
        Shape.__init__(self, "square", 4)
        self.length = length

    def area(self):
        return self.length ** 2


def primes(limit):
    sieve = [True] * limit
    for number in range(2, limit):
        if sieve[number]:
            yield number
            for multiple in range(number * number, limit, number):
                sieve[multiple] = False


def words(text):
    counted = {}
    for word in re.findall(r"[a-z']+", text.lower()):
        counted[word] = counted.get(word, 0) + 1
    return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))


TEXT = """The quick brown fox jumps over the lazy dog. The dog sleeps;
the fox doesn't. What does the fox say?"""

print(list(primes(100)))
print(words(TEXT)[:4])
for shape in [Square(3), Shape("triangle", 3)]:
    try:
        print("%r: %d" % (shape, shape.area()))
    except NotImplementedError as refused:
        print("%r: no area of %s" % (shape, refused))
print(2 ** 200 % 1000007, 7 // 2, -7 // 2, round(2.675, 2), complex(1, 2) * complex(3, -1))
print(u"gr\u00fc\u00dfe".encode("utf-8").encode("hex"), "abc"[::-1], "%08.3f|%-6s|%+d" % (3.14159, "ab", 7))
print(sorted({3, 1, 2} | {5}), dict(zip("abc", range(3))) == {"a": 0, "b": 1, "c": 2})
with open(sys.argv[1], "w") as output:
    output.write("\n".join(str(n) for n in primes(50)))
print(sum(int(line) for line in open(sys.argv[1])))
exec("nested = [[x * y for x in range(4)] for y in range(3)]")
print(nested)
