"""Stock feed: a hundred fictional companies, polled while the market is open.

Section 3.5 of Cao 2012 polled 100 symbols every five minutes from 9:30 to 16:00, both included: 79
messages a day, each with all symbols. A row is one symbol at one poll, and the rows of a poll are
consecutive.

Prices are integers, in cents. Trades of a symbol arrive at random, at a rate of its own, and each
moves the price by a few thousandths. Ticks are one cent below 50 dollars, two below 200, five
above. Nothing changes between trades, and trades do not depend on the period, so more frequent
polls sample the same market. Bid and ask lie around the last trade; capitalisation, P/E and yield
follow from it; a day opens near the previous close. Weekends are skipped. On a day without trades
(`trades=0`) all messages are equal. A market closes later than it opens; a period longer than its
day polls it once.

The paper names the fields only; the companies, their figures and the random walk are fictional.
"Div & Yield" is two columns.

>>> day = list(rows(StockOptions(symbols=2), seed=1))
>>> len(day), [row.values[1] for row in day[:3]]
(158, ['LAKU', 'WODI', 'LAKU'])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from pathcast.errors import WorkloadError
from pathcast.generators.feeds.rows import DAY_SECONDS, FeedRow, epoch_seconds, format_time
from pathcast.rng import SeededRandom

__all__ = ["FIELDS", "StockOptions", "rows", "symbols"]

FIELDS: tuple[str, ...] = tuple(
    "time symbol sector last-trade move pre-close open bid ask target-est avg-volume market-cap "
    "pe eps dividend yield rating".split()
)

_MAX_SYMBOLS = 5000
_SECTORS = "energy finance health industry retail technology utilities".split()
_RATINGS = ("strong buy", "buy", "buy", "hold", "hold", "hold", "sell", "strong sell")
_CONSONANTS, _VOWELS = "BCDFGHJKLMNPQRSTVWXZ", "AEIOU"
_PRICES = ((300, 2_000), (1_000, 6_000), (2_000, 10_000), (5_000, 40_000))  # cents
_TRADE_RATES = (20, 60, 100, 140, 180)  # percent of the mean number of trades, per company
_STEPS = (-3, -2, -1, -1, -1, 1, 1, 1, 2, 3)  # price moves of a trade, in steps


@dataclass(frozen=True, slots=True)
class StockOptions:
    """Parameters of the stock feed; times are seconds of the day."""

    symbols: int = 100
    period: int = 300
    days: int = 1
    start: date = date(2011, 8, 3)
    opens: int = 34_200  # 9:30
    closes: int = 57_600  # 16:00
    trades: int = 200  # per symbol and day, on average

    def __post_init__(self) -> None:
        checks = (
            ("symbols", self.symbols, 1, _MAX_SYMBOLS),
            ("period", self.period, 1, DAY_SECONDS),
            ("days", self.days, 1, 100_000),
            ("trades", self.trades, 0, 100_000),
        )
        for name, value, low, high in checks:
            if not low <= value <= high:
                raise WorkloadError(name, f"{name} must be {low} to {high}, not {value}")
        if not 0 <= self.opens < self.closes < DAY_SECONDS:
            message = f"a market cannot be open from second {self.opens} to {self.closes}"
            raise WorkloadError("time", message, hint=f"0 <= opens < closes < {DAY_SECONDS}")
        if _trading_day(self.start, self.days - 1) > date.max.toordinal():
            message = f"{self.days} days from {self.start} go beyond {date.max}"
            raise WorkloadError("start", message, hint="an earlier start, or fewer days")


def symbols(count: int, seed: int) -> tuple[str, ...]:
    """Return distinct symbols of four letters."""
    rng = SeededRandom(seed, "stock", "symbols")
    names: dict[str, None] = {}
    while len(names) < count:
        letters = (rng.pick(kind) for kind in (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS))
        names["".join(letters)] = None
    return tuple(names)


def rows(options: StockOptions, seed: int) -> Iterator[FeedRow]:
    """Yield the rows by time, and by symbol within one time."""
    companies = [_Company(symbol, seed) for symbol in symbols(options.symbols, seed)]
    for number in range(options.days):
        today = date.fromordinal(_trading_day(options.start, number))
        for company in companies:
            company.begin(number, options)
        for second in range(options.opens, options.closes + 1, options.period):
            at = epoch_seconds(today, second)
            time = format_time(at)
            for company in companies:
                yield FeedRow(at, (time, *company.read(second)))
        for company in companies:
            company.read(options.closes)  # advance to the close even if no poll hits it


def _trading_day(start: date, number: int) -> int:
    """Return the ordinal of the n-th weekday from the start on, counted from 0."""
    weeks, weekday = divmod(min(start.weekday(), 5) + number, 5)
    return start.toordinal() - start.weekday() + 7 * weeks + weekday


def _tick(price: int) -> int:
    """Return the tick size of a price."""
    return 1 if price < 5_000 else 2 if price < 20_000 else 5


def _decimal(hundredths: int) -> str:
    sign = "-" if hundredths < 0 else ""
    return f"{sign}{abs(hundredths) // 100}.{abs(hundredths) % 100:02}"


class _Company:
    """A company and its price. Call `begin` for a day, then `read` at non-decreasing seconds."""

    def __init__(self, symbol: str, seed: int) -> None:
        rng = SeededRandom(seed, "stock", "company", symbol)
        price = rng.between(*rng.pick(_PRICES))
        self._symbol, self._seed = symbol, seed
        self._sector = rng.pick(_SECTORS)
        self._last = price - price % _tick(price)
        self._shares = rng.between(20, 5_000) * 100_000
        self._earned = rng.between(-price // 20, price // 8)  # cents per share and year
        self._paid = max(0, rng.between(0, 3) * self._earned // 10)
        self._volume = rng.between(50, 20_000) * 1_000
        self._trade_rate = rng.pick(_TRADE_RATES)
        self._target = price * rng.between(90, 135) // 100
        self._rating = rng.pick(_RATINGS)

    def begin(self, day: int, options: StockOptions) -> None:
        self._rng = SeededRandom(self._seed, "stock", "trades", self._symbol, day)
        trades = options.trades * self._trade_rate / 100
        self._pause = (options.closes - options.opens) / trades if trades else None
        self._closed = self._last
        self._next_trade = float(options.opens)
        if self._pause is not None:
            self._trade()
            self._next_trade += self._rng.exponential() * self._pause
        self._open = self._last
        self._quote()
        self._fields = self._report()

    def read(self, second: int) -> tuple[str, ...]:
        """Return all fields except the time."""
        if self._pause is not None and self._next_trade <= second:
            while self._next_trade <= second:
                self._trade()
                self._next_trade += self._rng.exponential() * self._pause
            self._fields = self._report()
        return self._fields

    def _trade(self) -> None:
        tick = _tick(self._last)
        step = max(tick, self._last // 1000 // tick * tick)  # a thousandth of the price, in ticks
        moved = self._last + self._rng.pick(_STEPS) * step
        if moved < 100:  # a penny stock would leave the market
            moved = self._last + tick
        self._last = moved - moved % _tick(moved)
        self._quote()

    def _quote(self) -> None:
        tick = _tick(self._last)
        below = self._rng.below(3)
        self._bid = self._last - below * tick
        self._ask = self._last + (self._rng.below(3) if below else 1) * tick

    def _report(self) -> tuple[str, ...]:
        last, closed = self._last, self._closed
        return (
            self._symbol,
            self._sector,
            _decimal(last),
            "up" if last > closed else "down" if last < closed else "same",
            _decimal(closed),
            _decimal(self._open),
            _decimal(self._bid),
            _decimal(self._ask),
            _decimal(self._target),
            str(self._volume),
            str(self._shares * last // 100),
            _decimal(100 * last // self._earned) if self._earned > 0 else "",
            _decimal(self._earned),
            _decimal(self._paid) if self._paid else "",
            _decimal(10_000 * self._paid // last) if self._paid else "",
            self._rating,
        )
