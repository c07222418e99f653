"""Recomputes the tables that noise is drawn from, in rationals and without Brume's code.

    npx tsx scripts/writeTables.ts | python3 scripts/checkTables.py

Reads one JSON object per line: a scale of discrete Laplace noise with its alias tables, a coin, a local mechanism, the coins of
a noisy choice, or the threshold and delta of truncated noise. exp is bracketed by two integers over 2^400. Each law is computed
from its formula and rounded as docs/noise.md says, and every word that kernels read must be equal: a single bit that differs is
found. Exits with 1 at the first table that is wrong; with --all it goes on, and names each.
"""
import json
import struct
import sys
from fractions import Fraction

BITS = 400
ONE = 1 << BITS
WEIGHT_BITS = 176
TAIL_WORDS = 5


class Interval:
    """[low, high] over 2^400; every operation rounds outwards."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __mul__(self, other):  # of numbers from 0 on
        return Interval((self.low * other.low) >> BITS, ((self.high * other.high) >> BITS) + 1)

    def __add__(self, other):
        return Interval(self.low + other.low, self.high + other.high)

    def complement(self):
        return Interval(ONE - self.high, ONE - self.low)

    def over(self, other):
        return Interval((self.low << BITS) // other.high, (self.high << BITS) // other.low + 1)


def exp(x):
    """exp(-x) for a fraction x >= 0: an alternating series for x/2^s < 1/256, squared s times."""
    s = 0
    while x.numerator << 8 >= x.denominator << s:
        s += 1
    y = x / (1 << s)
    total, term, k = Fraction(1), Fraction(1), 0
    while term * ONE >= 1:
        k += 1
        term = term * y / k
        # Terms fall, so the sum lies between two partial sums; fractions are cut to keep them short.
        term = Fraction((term.numerator << (BITS + 64)) // term.denominator, 1 << (BITS + 64))
        total += -term if k % 2 else term
    middle = (total.numerator << BITS) // total.denominator
    result = Interval(middle - 64, middle + 64)
    for _ in range(s):
        result = result * result
    return result


def nearest(interval, bits):
    """2^bits times a number, rounded to the nearest integer: both ends of its bracket must agree."""
    low, high = ((end + (1 << (BITS - bits - 1))) >> (BITS - bits) for end in (interval.low, interval.high))
    check(low == high, "a number lies too close to the middle of two others to be rounded")
    return low


def check(condition, what):
    if not condition:
        sys.exit(f"checkTables: {what}")


def weights(columns, tails, outcome_bits):
    """The weight of every outcome, in units of 2^-176, summed over the columns of an alias table."""
    full = (1 << WEIGHT_BITS) // len(columns)
    mask = (1 << outcome_bits) - 1
    found = {}
    for i, word in enumerate(columns):
        own, alias, threshold = word & mask, (word >> outcome_bits) & mask, word >> (2 * outcome_bits)
        for tail in tails[TAIL_WORDS * i : TAIL_WORDS * (i + 1)]:
            threshold = threshold << 32 | tail
        check(threshold <= full, "a threshold is above its column")
        check((threshold == full) == (own == alias), "a column of one outcome is not marked as one")
        found[own] = found.get(own, 0) + threshold
        found[alias] = found.get(alias, 0) + full - threshold
    return {outcome: weight for outcome, weight in found.items() if weight}


def check_header(table, t):
    """What kernels read beside the columns: how many words a sample takes, the escape, the divisor and the shifts."""
    shifts, escape, divisor = table["shifts"], table["escape"], table["divisor"]
    ratio = Fraction(int(table["numerator"]), int(table["denominator"]))
    check(divisor == (-(-ratio.denominator // ratio.numerator) if ratio < 1 else 1), "the divisor is not 1/t, rounded up")
    low = 0
    while t > 1 << (low + 4):
        low += 1
    check(escape == min(255, -(-16 * t.numerator // (t.denominator << low))), "the escape is not at 16 t")
    check(shifts[0] == low and shifts[-1] == 0, "the digits do not reach from the highest bit to the lowest")
    check(all(0 <= above - shift <= 8 for above, shift in zip(shifts, shifts[1:])), "a digit has not 0 to 8 bits")
    check(len(shifts) in (2, 4, 6), "digits come in pairs")
    check(len(table["columns"]) == len(table["tails"]) == len(shifts), "a digit has no table")
    for digit, (columns, tails) in enumerate(zip(table["columns"], table["tails"])):
        check(len(columns) == (512 if digit == 0 else 256), "a table has another number of columns")
        check(len(tails) == TAIL_WORDS * len(columns), "a table has another number of tails")
    step = float(escape << low)
    words = [len(shifts) // 2, escape, *struct.unpack("<4I", struct.pack("<2d", divisor, step)), *shifts]
    check(table["header"] == words + [0] * (12 - len(words)), "the kernels read another header")


def check_scale(table):
    """Digits of |x| and the sign: a geometric variable of scale t, digit by digit (docs/noise.md)."""
    t = Fraction(int(table["numerator"]), int(table["denominator"])) * table["divisor"]
    check_header(table, t)
    base = exp(1 / t)
    sign = base.over(Interval(ONE + base.low, ONE + base.high))
    before = None
    for digit, (shift, columns, tails) in enumerate(zip(table["shifts"], table["columns"], table["tails"])):
        ratio = exp((1 << shift) / t)
        found = weights(columns, tails, 9 if digit == 0 else 8)
        check(sum(found.values()) == 1 << WEIGHT_BITS, "weights do not sum to 1")
        outcomes = table["escape"] + 1 if digit == 0 else 1 << (before - shift)
        if digit == 0:
            chance = ratio.complement()
        elif outcomes > 1:
            chance = ratio.complement().over(exp((1 << before) / t).complement())
        # Weights are differences of sums that are rounded; the last outcome has what is left.
        total, below = Interval(0, 0), 0
        for k in range(outcomes):
            if k < outcomes - 1:
                total = total + chance
                rounded = nearest(total, WEIGHT_BITS)
                chance = chance * ratio
            else:
                rounded = 1 << WEIGHT_BITS
            weight, below = rounded - below, rounded
            if digit == 0:
                negative = nearest(Interval(weight * sign.low >> WEIGHT_BITS, (weight * sign.high >> WEIGHT_BITS) + 1), WEIGHT_BITS)
                check(found.pop(k, 0) == weight - negative, f"H = {k}, positive")
                check(found.pop(k + 256, 0) == negative, f"H = {k}, negative")
            else:
                check(found.pop(k, 0) == weight, f"digit {digit} = {k}")
        check(not found, "an outcome that the law does not have")
        before = shift


def tossed(words, threshold, what):
    """Whether a coin of 192 bits has a threshold. The seventh word says heads to every tie: of the certain coin alone."""
    certain = threshold == 1 << 192
    rest = threshold - certain
    check(words == [rest >> (32 * (5 - place)) & 0xFFFFFFFF for place in range(6)] + [int(certain), 0], what)


def check_coin(table):
    """Heads with probability exp(-x), to the nearest 2^-192."""
    tossed(table["words"], nearest(exp(Fraction(int(table["numerator"]), int(table["denominator"]))), 192), "coin")


def check_selection(table):
    """The coins of a noisy choice (docs/noisy-max.md): 2 exp(-T/t) for T = ceil(t), and 1/(1 + exp(-1/t)), rounded down."""
    t = Fraction(int(table["numerator"]), int(table["denominator"]))
    check(table["stride"] == -(-t.numerator // t.denominator), "the stride is not the scale, rounded up")
    tossed(table["strideCoin"], nearest(exp(table["stride"] / t), 193), "the coin of a stride")
    side = (1 << 384) // ((1 << 192) + nearest(exp(1 / t), 192))
    tossed(table["sideCoin"], side, "the coin of a side")


def check_truncated(table):
    """k is the least threshold whose delta(k) = P(X = k) is not above the one asked for; what is stated is above it."""
    q = exp(Fraction(int(table["numerator"]), int(table["denominator"])))
    asked, stated = (Fraction(int(table[name]["numerator"]), int(table[name]["denominator"])) for name in ("asked", "delta"))

    def delta(k):
        power, square = Interval(ONE, ONE), q
        for bit in reversed(f"{k:b}"):
            if bit == "1":
                power = power * square
            square = square * square
        twice = power * q
        bottom = Interval(ONE + q.low - 2 * twice.high, ONE + q.high - 2 * twice.low)
        return (power * q.complement()).over(bottom)

    found = delta(table["k"])
    check(found.high <= asked * ONE, "delta is above the one that was asked for")
    check(table["k"] == 1 or delta(table["k"] - 1).low > asked * ONE, "a smaller threshold would do")
    check(found.high <= stated * ONE, "delta is above the one that is stated")
    # The nearest double, and two units of its last bit more.
    check(stated == Fraction(float(Fraction(found.high, ONE)) * (1 + 2**-51)), "another delta is stated")


WHOLE = (2**32 - 4) << 160
BINS = 1024
FINE = 1 << 20


def pair(epsilon, favoured, others, budget):
    """The largest weights within a budget: e^-eps is rounded up to 2^-256 and both quotients down."""
    least = nearest(exp(epsilon), 256) + 1
    other = budget * least // ((favoured << 256) + others * least)
    return [(other << 256) // least, other]


def share(top, interval):
    """A share of the inputs, in whole ones: at least 1."""
    scaled = Interval(top * interval.low, top * interval.high)
    return max(1, nearest(scaled, 0))


def square_window(epsilon):
    """a (eps - 1 + a)/(1 - a (1 + eps)) with a = e^-eps: the window of Square Wave."""
    a = exp(epsilon)
    scaled = (epsilon.numerator << BITS) // epsilon.denominator
    above = a * Interval(scaled - ONE + a.low, scaled + 1 - ONE + a.high)
    below = a * Interval(ONE + scaled, ONE + scaled + 1)
    return above.over(below.complement())


def shape(name, epsilon):
    """Inputs, window and weights of a mechanism (docs/local.md)."""
    half = exp(epsilon / 2)
    if name in ("dayWindow", "squareWave"):
        top = BINS * BINS - 1
        width = BINS * share(BINS, half if name == "dayWindow" else square_window(epsilon))
        return top, width, pair(epsilon, width, top, WHOLE) + [0, 0]
    if name == "piecewise":
        width = share(FINE, half)
        return FINE, width, pair(epsilon, width, FINE, WHOLE) + [0, 0]
    # The double that is nearest to 0.61.
    if name == "stochasticRounding" or epsilon <= Fraction(0.61):
        return FINE, 0, [0, 0] + pair(epsilon, FINE, FINE, WHOLE)
    width = share(FINE, half)
    alpha = WHOLE * ((1 << 256) - nearest(half, 256)) >> 256
    return FINE, width, pair(epsilon, width, FINE, alpha) + pair(epsilon, FINE, FINE, WHOLE - alpha)


def check_mechanism(table):
    """No report is more than e^eps times as likely under one input as under another, by integers alone."""
    epsilon = Fraction(int(table["numerator"]), int(table["denominator"]))
    found = [int(weight) for weight in table["weights"]]
    shrink = exp(epsilon)
    for favoured, other in (found[:2], found[2:]):
        check(favoured * shrink.high <= other << BITS, "a weight is above e^eps times the other")
    top, width, expected = shape(table["name"], epsilon)
    check(found == expected, "other weights than the formula's")
    check((table["top"], table["width"]) == (top, width), "another number of inputs, or another window")
    lengths = [found[0] * width] + [weight * top for weight in found[1:]]
    check(sum(lengths) <= 1 << 192, "places do not fit")
    check(sum(lengths) * 1000 >= 999 << 192, "too much is drawn again")
    firsts = [0]
    for length in lengths:
        firsts.append(firsts[-1] - (-length >> 160))
    factors = [-(-(1 << 200) // weight) if weight > 1 << 168 else 0 for weight in found]
    slack = (max(firsts[i + 1] - firsts[i] if factors[i] else 0 for i in range(4)) >> 8) + 2
    cells = (top + width if width else 0) + (2 if found[2] else 0)
    header = [top, width, cells, slack, 0, 0, 0, 0, *firsts, 0, 0, 0, *factors, 0, 0, 0, 0]
    numbers = [weight >> (32 * (7 - i)) & 0xFFFFFFFF for weight in found for i in range(8)]
    check(table["words"] == header + numbers, "the kernels read other words")


KINDS = {
    "scale": check_scale,
    "coin": check_coin,
    "mechanism": check_mechanism,
    "selection": check_selection,
    "truncated": check_truncated,
}
counts = {}
wrong = []
for line in sys.stdin.readlines():
    entry = json.loads(line)
    try:
        KINDS[entry["kind"]](entry)
    except (SystemExit, ArithmeticError, LookupError, TypeError, ValueError, struct.error) as reason:
        said = str(reason) if isinstance(reason, SystemExit) else "checkTables: a number that no table can have"
        name = entry.get("name", "")
        wrong.append(f"{said} ({entry['kind']} {name} {entry['numerator']}/{entry['denominator']})")
        if "--all" not in sys.argv:
            break
    counts[entry["kind"]] = counts.get(entry["kind"], 0) + 1
if wrong:
    sys.exit("\n".join(wrong))
check(counts, "nothing to check")
print(", ".join(f"{count} {kind if kind == 'truncated' else kind + 's'}" for kind, count in sorted(counts.items())) + ": as recomputed")
