"""Weather feed: reports of stations, sampled at a fixed period.

Section 3.5 of Cao 2012 collected the weather of three cities of Ontario on three days of August
2011: some 3000 messages a day in all, about one every 30 seconds. So the cities take turns: every
`period` seconds the next one reports, which makes 2880 rows a day at 30 seconds for any number of
cities. With `together`, all cities report every time. The weather itself (`station`) does not
depend on the period.

Every day has a variability from 0 to 1. With the default cities and period, the named days come
near the share of repeated messages that table 3.8 gives for an infinite cache:

    calm        84.74%   (August 5)
    mixed       50.92%   (August 3)
    changeable  47.90%   (August 4)

The paper gives no data beyond that and the names of the fields. The activity over the day, the
rounding of readings and their dynamics are our choice. More cities in turn, or a longer period,
mean fewer repeats.

>>> rows = list(rows(WeatherOptions(days=("calm",)), seed=1))
>>> len(rows), rows[0].values[:2], rows[1].values[:2]
(2880, ('2011-08-03T00:00:00', 'Toronto'), ('2011-08-03T00:00:30', 'Ottawa'))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from pathcast.errors import WorkloadError
from pathcast.generators.feeds.rows import DAY_SECONDS, FeedRow, epoch_seconds, format_time
from pathcast.generators.feeds.station import READINGS, DayWeather, Station, StationSite
from pathcast.rng import SeededRandom

__all__ = ["CITIES", "DAYS", "FIELDS", "WeatherOptions", "cities", "rows"]

CITIES = ("Toronto", "Ottawa", "Sudbury")
DAYS = {"calm": 0.15, "mixed": 0.73, "changeable": 0.8}
FIELDS: tuple[str, ...] = (
    *("time", "city", "country", "station", "name", "latitude", "longitude", "elevation"),
    *READINGS,
)

_SITES = {
    "Toronto": StationSite("Toronto", 4368, -7963, 173),
    "Ottawa": StationSite("Ottawa", 4532, -7567, 114),
    "Sudbury": StationSite("Sudbury", 4662, -8080, 348),
}
_NAME_STARTS = "Maple Cedar Stone River Silver North Birch Granite Heron Copper Pine Falcon".split()
_NAME_ENDS = "Falls Harbour Bay Ridge Lake Landing Mills Point Narrows Corners Hill Creek".split()


@dataclass(frozen=True, slots=True)
class WeatherOptions:
    """Parameters of the weather feed; each day is a name of `DAYS` or a variability."""

    cities: tuple[str, ...] = CITIES
    period: int = 30  # seconds from one report to the next
    days: tuple[str | float, ...] = ("mixed",)
    start: date = date(2011, 8, 3)
    since: int = 0  # first second of each day
    until: int = DAY_SECONDS  # end of each day, exclusive
    together: bool = False  # all cities every time, instead of in turn

    def __post_init__(self) -> None:
        if not self.cities or len(set(self.cities)) != len(self.cities):
            raise WorkloadError("cities", "there must be cities, each given once")
        if not self.days:
            hint = f"give names ({', '.join(DAYS)}) or numbers from 0 to 1"
            raise WorkloadError("days", "there must be a day", hint=hint)
        for name in self.cities:
            if not name.strip() or not name.isprintable():
                raise WorkloadError("cities", f"{name!r} is no name of a city")
        if not 1 <= self.period <= DAY_SECONDS:
            message = f"the period must be 1 to {DAY_SECONDS} seconds, not {self.period}"
            raise WorkloadError("period", message)
        if not 0 <= self.since < self.until <= DAY_SECONDS:
            message = f"a day cannot go from second {self.since} to {self.until}"
            raise WorkloadError("time", message, hint=f"0 <= since < until <= {DAY_SECONDS}")
        for day in self.days:
            _variability(day)
        if self.start.toordinal() + len(self.days) - 1 > date.max.toordinal():
            message = f"{len(self.days)} days from {self.start} go beyond {date.max}"
            raise WorkloadError("start", message, hint="an earlier start, or fewer days")


def cities(count: int) -> tuple[str, ...]:
    """Return city names: the paper's three, then fictional ones."""
    max_count = len(CITIES) + len(_NAME_STARTS) * len(_NAME_ENDS) * 100
    if not 1 <= count <= max_count:
        raise WorkloadError("cities", f"there can be 1 to {max_count} cities, not {count}")
    names = list(CITIES[:count])
    for number in range(count - len(names)):
        first, round_number = number % len(_NAME_STARTS), number // len(_NAME_STARTS)
        second, lap = (first + round_number) % len(_NAME_ENDS), round_number // len(_NAME_ENDS)
        names.append(f"{_NAME_STARTS[first]} {_NAME_ENDS[second]}" + (f" {lap + 1}" if lap else ""))
    return tuple(names)


def rows(options: WeatherOptions, seed: int) -> Iterator[FeedRow]:
    """Yield the rows by time."""
    stations = [Station(_site(city, seed)) for city in options.cities]
    station_fields = [
        _station_fields(station.site, number) for number, station in enumerate(stations, 1)
    ]
    for number, kind in enumerate(options.days):
        today = date.fromordinal(options.start.toordinal() + number)
        day = DayWeather.of(
            SeededRandom(seed, "weather", "day", number), _variability(kind), today.month
        )
        for station in stations:
            station.begin(day, SeededRandom(seed, "weather", "events", station.site.city, number))
        for turn, second in enumerate(range(options.since, options.until, options.period)):
            at = epoch_seconds(today, second)
            time = format_time(at)
            first = turn % len(stations)
            for index in range(len(stations)) if options.together else (first,):
                yield FeedRow(at, (time, *station_fields[index], *stations[index].read(second)))


def _variability(day: str | float) -> float:
    variability = DAYS.get(day) if isinstance(day, str) else day
    if variability is None or not 0.0 <= variability <= 1.0:
        hint = f"give one of {', '.join(DAYS)}, or a variability from 0 to 1"
        raise WorkloadError("days", f"{day!r} is no kind of day", hint=hint)
    return variability


def _site(city: str, seed: int) -> StationSite:
    if city in _SITES:
        return _SITES[city]
    rng = SeededRandom(seed, "weather", "place", city)
    return StationSite(city, rng.between(4250, 5100), -rng.between(7000, 9500), rng.between(1, 450))


def _station_fields(site: StationSite, number: int) -> tuple[str, ...]:
    """Return the constant fields of a station."""
    letters = "".join(letter for letter in site.city.upper() if "A" <= letter <= "Z")
    return (
        site.city,
        "CA",
        f"{letters[:3] or 'X'}{number:03}",
        f"{site.city} Weather Station",
        _degrees(site.latitude),
        _degrees(site.longitude),
        str(site.elevation),
    )


def _degrees(hundredths: int) -> str:
    sign = "-" if hundredths < 0 else ""
    return f"{sign}{abs(hundredths) // 100}.{abs(hundredths) % 100:02}"
