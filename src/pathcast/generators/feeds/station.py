"""Weather of one city: a process in continuous time that changes at random events only.

Each event moves one reading a little, by a random walk that is drawn towards a target. The hour and
the day set the target: temperature follows a table of the day's course, pressure the passing front,
and cloud, wind and dew point the kind of day. Nothing changes between two events. So feeds that
sample every 15 seconds and every five minutes see the same weather. The share of repeated messages
falls with the period, as in real traces.

`variability` sets the number of events: 20 a day at 0, and 1000 more at 1. It also makes the day
windier and wetter. Activity varies over the day: eight spells of three hours have fixed shares of
the events, in an order that the day draws for all its stations.

Readings are integers in the unit that a station reports (half degrees, tenths of a millimetre), and
no C library function is used, so the bytes are the same everywhere. Readings are consistent. The
dew point is never above the temperature. Humidity follows from both (Magnus), the apparent
temperature from these and the wind (Steadman). A gust is never below the wind, and rain needs
clouds. On a very quiet day readings lag behind the hour, since only events update them: the UV
index of the afternoon may last into the evening.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from decimal import Context, Decimal

from pathcast.generators.feeds.rows import DAY_SECONDS
from pathcast.rng import SeededRandom

__all__ = ["READINGS", "DayWeather", "Station", "StationSite"]

# The fields that `Station.read` returns, in order.
READINGS = (
    "temperature",
    "feels-like",
    "condition",
    "code",
    "humidity",
    "dew-point",
    "wind",
    "from",
    "wind-gust",
    "pressure",
    "trend",
    "visibility",
    "uv",
    "clouds",
    "rainfall",
)

_MIN_EVENTS, _EXTRA_EVENTS = 20, 1000  # events a day at variability 0, and additional ones at 1
_SPELL_SHARES = (40, 60, 80, 100, 100, 120, 140, 160)  # percent of the day's mean

# Hourly course of the temperature, in hundredths of half the day's range.
_NIGHT_TO_NOON = (-60, -70, -79, -87, -94, -100, -92, -72, -45, -16, 14, 42)
_NOON_TO_NIGHT = (65, 83, 95, 100, 96, 84, 64, 38, 12, -12, -32, -47)
_COURSE = _NIGHT_TO_NOON + _NOON_TO_NIGHT
_WARMTH = (-9, -8, -2, 6, 13, 18, 21, 20, 15, 8, 2, -5)  # degrees, by month
_SUN = (1, 2, 4, 5, 7, 8, 8, 7, 5, 3, 1, 1)  # maximal UV index, by month
_CLOUDS = (0, 10, 25, 40, 50, 60, 75, 90, 100)  # percent, by eighths (oktas)
_VISIBILITIES = ("0.2", "0.5", "1.0", "2.0", "4.0", "6.0", "8.0", "10.0", "12.0", "16.0", "24.0")
_WINDS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")


@dataclass(frozen=True, slots=True)
class StationSite:
    """Site of a station: latitude and longitude in hundredths of a degree, elevation in metres."""

    city: str
    latitude: int
    longitude: int
    elevation: int


@dataclass(frozen=True, slots=True)
class DayWeather:
    """Weather that all stations of a day share."""

    variability: float
    month: int
    spells: tuple[int, ...]  # percent of the mean number of events, per three hours
    warmth: int  # half degrees above the month's mean
    swing: int  # half degrees, half the range of the day
    drought: int  # half degrees between the night's temperature and the dew point
    cloud: int  # eighths
    wind: int  # km/h
    source: int  # wind direction, one of eight
    front: int  # rise of the pressure in half hectopascals

    @classmethod
    def of(cls, rng: SeededRandom, variability: float, month: int) -> DayWeather:
        """Draw a day."""
        spells = list(_SPELL_SHARES)
        for last in range(len(spells) - 1, 0, -1):
            other = rng.below(last + 1)
            spells[last], spells[other] = spells[other], spells[last]
        return cls(
            variability,
            month,
            tuple(spells),
            warmth=rng.between(-8, 8),
            swing=rng.between(6, 12),
            drought=rng.between(2, 10),
            cloud=rng.between(1, 4 + int(4 * variability)),
            wind=rng.between(5, 9) + int(14 * variability),
            source=rng.below(8),
            front=rng.between(-8, 8) - int(6 * variability),
        )


@functools.cache
def _saturation(half_degrees: int) -> int:
    """Return the vapour pressure over water at a temperature, in tenths of a pascal.

    Decimal arithmetic rounds correctly, so the result is the same on every machine.
    """
    exact = Context(prec=20)
    degrees = Decimal(half_degrees) / 2
    power = exact.divide(Decimal("17.62") * degrees, Decimal("243.12") + degrees)
    return int(exact.multiply(Decimal(6112), exact.exp(power)))


def _random_step(value: int, target: int, low: int, high: int, rng: SeededRandom) -> int:
    """Move a value by one step of a random walk with drift towards the target.

    Both the drift and the step grow with the distance from the target.
    """
    gap = target - value
    size = max(1, abs(gap) // 3)
    up = rng.below(100) < 50 + 10 * gap
    if not low <= value + (size if up else -size) <= high:
        up = not up
    return min(max(value + (size if up else -size), low), high)


class Station:
    """A site and its weather. Call `begin` for a day, then `read` at non-decreasing seconds."""

    def __init__(self, site: StationSite) -> None:
        self.site = site
        # North and altitude lower the temperature.
        self._offset = (4400 - site.latitude) // 150 - site.elevation // 150
        self._day: DayWeather | None = None
        self._visibility = len(_VISIBILITIES) - 2
        self._rain = 0  # tenths of a millimetre in an hour
        self._readings: tuple[str, ...] | None = None

    def begin(self, day: DayWeather, rng: SeededRandom) -> None:
        """Start a day from the current weather; the first day starts from typical values."""
        if self._day is not None:
            self.read(DAY_SECONDS - 1)  # the day's end must not depend on the last reading
        self._rng = rng
        self._next_event = 0.0  # seconds; each event draws the pause after it
        self._second = 0
        if self._day is None:
            self._day = day
            self._start = 2026 - self.site.elevation // 100 + rng.between(-12, 12)
            self._temperature = self._target_temperature()
            self._dew = self._temperature - day.drought // 2 - 1
            self._wind = day.wind
            self._gust = day.wind // 2
            self._source = day.source
            self._pressure = self._start
            self._clouds = day.cloud
        else:
            self._start = self._pressure
        self._day = day
        self._schedule_next()

    def read(self, second: int) -> tuple[str, ...]:
        """Return the readings at a second of the day, in the order of `READINGS`."""
        while self._next_event <= second:
            self._second = int(self._next_event)
            self._on_event()
            self._schedule_next()
            self._readings = None
        if self._readings is None:
            self._readings = self._report()
        return self._readings

    @property
    def day(self) -> DayWeather:
        assert self._day is not None, "begin comes before read"
        return self._day

    def _schedule_next(self) -> None:
        day = self.day
        spell = day.spells[
            min(int(self._next_event), DAY_SECONDS - 1) * len(day.spells) // DAY_SECONDS
        ]
        events = (_MIN_EVENTS + _EXTRA_EVENTS * day.variability) * spell / 100
        self._next_event += self._rng.exponential() * DAY_SECONDS / events

    def _target_temperature(self) -> int:
        """Return the temperature target of the hour."""
        day = self.day
        hour, seconds = divmod(self._second, 3600)
        this_hour, next_hour = _COURSE[hour], _COURSE[(hour + 1) % 24]
        course = this_hour * 3600 + (next_hour - this_hour) * seconds
        return (
            2 * _WARMTH[day.month - 1] + self._offset + day.warmth + day.swing * course // 360_000
        )

    def _on_event(self) -> None:
        """Move one reading, and update dependent ones."""
        day, rng = self.day, self._rng
        turn = rng.below(20)
        if turn < 4:
            self._temperature = _random_step(
                self._temperature, self._target_temperature(), -90, 90, rng
            )
            self._dew = min(self._dew, self._temperature)
        elif turn < 6:
            target = self._target_temperature() - day.swing // 2 - day.drought + self._rain // 4
            self._dew = _random_step(self._dew, target, -110, self._temperature, rng)
        elif turn < 9:
            # Wind rises by day and falls by night, like the temperature.
            target = max(0, day.wind + day.wind * _COURSE[self._second // 3600] // 250)
            self._wind = _random_step(self._wind, target, 0, 120, rng)
        elif turn < 12:
            self._gust = _random_step(self._gust, self._wind // 2, 0, 60, rng)
        elif turn < 13:
            self._source = (self._source + rng.pick((-1, 1))) % 8
        elif turn < 15:
            target = self._start + day.front * self._second // DAY_SECONDS
            self._pressure = _random_step(self._pressure, target, 1880, 2120, rng)
        elif turn < 17:
            self._clouds = _random_step(self._clouds, day.cloud, 0, 8, rng)
        elif turn < 18 or self._clouds < 6:
            self._visibility = _random_step(
                self._visibility, self._target_visibility(), 0, len(_VISIBILITIES) - 1, rng
            )
        else:
            heavy = int(20 * day.variability)
            self._rain = max(0, _random_step(self._rain // 2, heavy // 4, 0, 60, rng) * 2)
        if self._clouds < 6:
            self._rain = 0

    def _target_visibility(self) -> int:
        """Return the visibility target: lower in rain and in nearly saturated air."""
        spread = self._temperature - self._dew
        return len(_VISIBILITIES) - 2 - min(5, self._rain // 8) - (4 - spread if spread < 4 else 0)

    def _report(self) -> tuple[str, ...]:
        day = self.day
        temperature, wind = self._temperature, self._wind
        vapour = _saturation(self._dew)
        felt = temperature * 500 + 33 * vapour // 100 - 7000 * wind // 36 - 4000
        # Solar noon is at 13:00; the sun is up for six hours before and after.
        high = max(0, 21_600**2 - (self._second - 46_800) ** 2)
        sun = _SUN[day.month - 1] * high * (16 - self._clouds) // (16 * 21_600**2)
        condition, code = self._condition()
        trend = "rising" if day.front > 3 else "falling" if day.front < -3 else "steady"
        return (
            _tenths(temperature * 5),
            str((felt + 500) // 1000),
            condition,
            code,
            str(min(100, 100 * vapour // _saturation(temperature))),
            _tenths(self._dew * 5),
            str(wind),
            _WINDS[self._source] if wind > 3 else "variable",
            str(wind + self._gust),
            _tenths(self._pressure * 5),
            trend,
            _VISIBILITIES[self._visibility],
            str(sun),
            str(_CLOUDS[self._clouds]),
            _tenths(self._rain),
        )

    def _condition(self) -> tuple[str, str]:
        """Return the condition in words, and its code."""
        if self._rain:
            if self._temperature <= 0:
                return ("Snow" if self._rain > 6 else "Light Snow"), "snow"
            if self._temperature <= 3:
                return "Sleet", "sleet"
            if self._rain >= 60 and self._gust >= 20:
                return "Thunderstorm", "storm"
            if self._rain <= 6:
                return "Drizzle", "drizzle"
            return ("Heavy Rain" if self._rain > 40 else "Rain"), "rain"
        if self._visibility <= 2:
            return "Fog", "fog"
        if self._visibility <= 4:
            return "Mist", "mist"
        if self._clouds <= 1:
            return "Clear", "clear"
        if self._clouds <= 4:
            return ("Scattered Clouds" if self._clouds > 2 else "Fair"), "fair"
        return ("Overcast", "overcast") if self._clouds == 8 else ("Mostly Cloudy", "cloudy")


def _tenths(number: int) -> str:
    """Format a number of tenths with a decimal point."""
    sign = "-" if number < 0 else ""
    return f"{sign}{abs(number) // 10}.{abs(number) % 10}"
