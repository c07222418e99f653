"""Recomputes the tables that noise is drawn from, in rationals and without Brume's code.

    npx tsx scripts/writeTables.ts | python3 scripts/checkTables.py

Reads one JSON object per line: a scale of discrete Laplace noise with its alias tables, a coin, a local mechanism, the coins of
a noisy choice, or the threshold and delta of truncated noise. exp is bracketed by two integers over 2^400, so every comparison is exact. Exits with 1 at the first table that is wrong.
"""
import json
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
        found[own] = found.get(own, 0) + threshold
        found[alias] = found.get(alias, 0) + full - threshold
    return {outcome: weight for outcome, weight in found.items() if weight}


def near(weight, probability, units, what):
    """Whether a weight is within so many units of 2^-176 of a probability."""
    scale = BITS - WEIGHT_BITS
    check(probability.low - (units << scale) <= weight << scale <= probability.high + (units << scale), what)


def check_scale(table):
    """Digits of |x| and the sign: a geometric variable of scale t, digit by digit (docs/noise.md)."""
    t = Fraction(int(table["numerator"]), int(table["denominator"])) * table["divisor"]
    check(t >= 1 or table["divisor"] > 1, "a scale below 1 has a divisor")
    shifts, escape = table["shifts"], table["escape"]
    base = exp(1 / t)
    sign = base.over(Interval(ONE + base.low, ONE + base.high))
    before = None
    for digit, (shift, columns, tails) in enumerate(zip(shifts, table["columns"], table["tails"])):
        ratio = exp((1 << shift) / t)
        found = weights(columns, tails, 9 if digit == 0 else 8)
        check(sum(found.values()) == 1 << WEIGHT_BITS, "weights do not sum to 1")
        outcomes = escape + 1 if digit == 0 else 1 << (before - shift)
        law = []
        if digit == 0:
            chance = ratio.complement()
        elif outcomes > 1:
            chance = ratio.complement().over(exp((1 << before) / t).complement())
        else:
            chance = Interval(ONE, ONE)
        rest = Interval(ONE, ONE)
        for k in range(outcomes - 1):
            law.append(chance)
            rest = Interval(rest.low - chance.high, rest.high - chance.low)
            chance = chance * ratio
        law.append(rest)
        for k, probability in enumerate(law):
            if digit == 0:
                near(found.pop(k, 0), probability * sign.complement(), 3, f"H = {k}, positive")
                near(found.pop(k + 256, 0), probability * sign, 3, f"H = {k}, negative")
            else:
                near(found.pop(k, 0), probability, 2, f"digit {digit} = {k}")
        check(not found, "an outcome that the law does not have")
        before = shift


def tossed(words, probability, what):
    """Whether a coin of 192 bits has a probability, to within a unit of its last bit."""
    threshold = words[6]
    for place, word in enumerate(words[:6]):
        threshold += word << (32 * (5 - place))
    scale = BITS - 192
    check(probability.low - (1 << scale) <= threshold << scale <= probability.high + (1 << scale), what)


def check_coin(table):
    """Heads with probability exp(-x)."""
    tossed(table["words"], exp(Fraction(int(table["numerator"]), int(table["denominator"]))), "coin")


def check_selection(table):
    """The coins of a noisy choice (docs/noisy-max.md): 2 exp(-T/t) for T = ceil(t), and 1/(1 + exp(-1/t))."""
    t = Fraction(int(table["numerator"]), int(table["denominator"]))
    check(table["stride"] == -(-t.numerator // t.denominator), "the stride is not the scale, rounded up")
    half = exp(table["stride"] / t)
    tossed(table["strideCoin"], Interval(2 * half.low, 2 * half.high), "the coin of a stride")
    step = exp(1 / t)
    tossed(table["sideCoin"], Interval(ONE, ONE).over(Interval(ONE + step.low, ONE + step.high)), "the coin of a side")


def check_truncated(table):
    """k is the least threshold whose delta(k) = P(X = k) is not above the one asked for; what is stated is above it."""
    q = exp(Fraction(int(table["numerator"]), int(table["denominator"])))
    asked, stated = (Fraction(int(table[name]["numerator"]), int(table[name]["denominator"])) for name in ("asked", "delta"))

    def delta(k):
        power = Interval(ONE, ONE)
        for _ in range(k):
            power = power * q
        twice = power * q
        bottom = Interval(ONE + q.low - 2 * twice.high, ONE + q.high - 2 * twice.low)
        return (power * q.complement()).over(bottom)

    found = delta(table["k"])
    check(found.high <= asked * ONE, "delta is above the one that was asked for")
    check(table["k"] == 1 or delta(table["k"] - 1).low > asked * ONE, "a smaller threshold would do")
    check(found.high <= stated * ONE, "delta is above the one that is stated")
    check(stated * ONE <= found.low * (1 + Fraction(1, 1 << 48)), "the delta that is stated is far too large")


def check_mechanism(table):
    """No report is more than e^eps times as likely under one input as under another, by integers alone."""
    epsilon = Fraction(int(table["numerator"]), int(table["denominator"]))
    inside, outside, kept, flipped = map(int, table["weights"])
    shrink = exp(epsilon)
    top, width = table["top"], table["width"]
    for favoured, other in ((inside, outside), (kept, flipped)):
        if favoured == other == 0:
            continue
        check(favoured * shrink.high <= other << BITS, "a weight is above e^eps times the other")
        check((favoured + 2) * shrink.high >= (other - 2) << BITS, "a weight is far below e^eps times the other")
    whole = inside * width + outside * top + (kept + flipped) * top
    check(whole <= 1 << 192, "places do not fit")
    check(whole * 1000 >= 999 << 192, "too much is drawn again")
    stored = table["words"]
    read = [sum(word << (32 * (7 - i)) for i, word in enumerate(stored[8 * k : 8 * k + 8])) for k in range(4)]
    check(read == [inside, outside, kept, flipped], "the kernels read other weights")


KINDS = {
    "scale": check_scale,
    "coin": check_coin,
    "mechanism": check_mechanism,
    "selection": check_selection,
    "truncated": check_truncated,
}
counts = {}
for line in sys.stdin.readlines():
    entry = json.loads(line)
    try:
        KINDS[entry["kind"]](entry)
    except SystemExit as reason:
        name = entry.get("name", "")
        sys.exit(f"{reason} ({entry['kind']} {name} {entry['numerator']}/{entry['denominator']})")
    counts[entry["kind"]] = counts.get(entry["kind"], 0) + 1
check(counts, "nothing to check")
print(", ".join(f"{count} {kind if kind == 'truncated' else kind + 's'}" for kind, count in sorted(counts.items())) + ": as recomputed")
