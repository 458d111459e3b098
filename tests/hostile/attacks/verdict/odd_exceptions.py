"""Raises an exception whose every part is odd.

Mechanism: a metaclass without a name, causes in a circle, a message of non-ASCII letters that its own method
  makes huge, a class, a cause and attributes that raise when read, and a line number beyond the file.
Surface: the code that describes an exception to its author, and the message that carries it.
Gain: a runner that dies costs a fresh box for each case, and its author reads of a broken connection.
Challenge: twice
Defence: runtime_error
"""


class Nameless(type):
    @property
    def __name__(cls):
        raise SystemExit("no name")


class Text(str):
    def __getitem__(self, place):
        return self


class Odd(Exception, metaclass=Nameless):
    def __str__(self):
        return Text("\ud800\0" + "\N{GRINNING FACE}" * (1 << 20))

    def __getattr__(self, name):
        raise KeyboardInterrupt(name)

    @property
    def __class__(self):
        raise ValueError("no class")


def solve(x, out, n):
    odd, other = Odd(), ValueError()
    odd.__cause__, other.__cause__ = other, odd
    raise odd


solve.__code__ = solve.__code__.replace(co_firstlineno=2**31 - 100)
