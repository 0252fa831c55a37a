"""Number parsing as libxml2 does it, from the bytes of a document.

The steps of `pathcast.xpath.numbers`, with the same bits as the result: digit by digit, at most
twenty significant digits of fraction divided by a power of ten, then the exponent. The roundings
must be the same, too, so a multiplication must not be fused with the following addition.

White space is XML's, digits are ASCII's. `number_of` takes one pass, allocates nothing and needs no
GIL.

>>> number(" -12.50 "), number("1e3"), number("twelve")
(-12.5, 1000.0, nan)
"""

from libc.math cimport INFINITY, NAN, pow
from libc.stdint cimport uint64_t

__all__ = ["number"]

cdef extern from *:
    """
    /* value * 10 + digit in two roundings: the volatile forbids a fused multiply-add. */
    static double pathcast_append_digit(double value, int digit) {
        volatile double tenfold = value * 10;
        return tenfold + digit;
    }
    """
    double append_digit "pathcast_append_digit"(double value, int digit) noexcept nogil

cdef enum:
    EXACT_DIGITS = 15  # an integer of 15 digits fits a double without rounding
    FRACTION_DIGITS = 20
    MAX_EXPONENT = 1000000


def number(str text not None) -> float:
    """Return XPath's number() of a string; NaN if it is not a number."""
    cdef bytes encoded = text.encode("utf-8", "surrogatepass")
    return number_of(encoded, len(encoded))


cdef double number_of(const char *text, Py_ssize_t size) noexcept nogil:
    """Return XPath's number() of UTF-8; NaN if it is not a number."""
    cdef const char *at = text
    cdef const char *end = text + size
    cdef const char *start
    cdef const char *stop
    cdef double value = 0.0
    cdef Py_ssize_t zeros
    cdef bint negative = False, negative_exponent = False
    cdef int power = 0
    at = skip_space(at, end)
    while end > at and is_space((end - 1)[0]):
        end -= 1
    if at < end and at[0] == c"-":
        negative = True
        at += 1
    start = at
    at = skip_digits(at, end)
    value = parse_digits(start, at)
    if at < end and at[0] == c".":
        at += 1
        stop = skip_digits(at, end)
        if stop - start == 1:  # a decimal point without digits
            return NAN
        zeros = 0
        while at < stop and at[0] == c"0":
            zeros += 1
            at += 1
        start = at
        at = stop
        if stop - start > FRACTION_DIGITS:
            stop = start + FRACTION_DIGITS
        value += parse_digits(start, stop) / power_of_ten(zeros + (stop - start))
    elif at == start:
        return NAN
    if negative:
        value = -value
    if at < end and (at[0] == c"e" or at[0] == c"E"):
        at += 1
        if at < end and (at[0] == c"-" or at[0] == c"+"):
            negative_exponent = at[0] == c"-"
            at += 1
        while at < end and is_digit(at[0]):
            if power < MAX_EXPONENT:
                power = power * 10 + (at[0] - c"0")
            at += 1
        if power:
            value *= power_of_ten(-power if negative_exponent else power)
    return value if at == end else NAN


cdef inline bint is_space(char character) noexcept nogil:
    return character == c" " or character == c"\t" or character == c"\r" or character == c"\n"


cdef inline bint is_digit(char character) noexcept nogil:
    return c"0" <= character <= c"9"


cdef inline const char *skip_space(const char *at, const char *end) noexcept nogil:
    while at < end and is_space(at[0]):
        at += 1
    return at


cdef inline const char *skip_digits(const char *at, const char *end) noexcept nogil:
    while at < end and is_digit(at[0]):
        at += 1
    return at


cdef double parse_digits(const char *at, const char *end) noexcept nogil:
    """Return the value of the digits, rounded after every digit."""
    cdef const char *exact = end if end - at <= EXACT_DIGITS else at + EXACT_DIGITS
    cdef uint64_t integer = 0
    cdef double value
    while at < exact:
        integer = integer * 10 + <uint64_t>(at[0] - c"0")
        at += 1
    value = <double>integer
    while at < end:
        value = append_digit(value, at[0] - c"0")
        at += 1
    return value


cdef inline double power_of_ten(Py_ssize_t exponent) noexcept nogil:
    return INFINITY if exponent > 308 else pow(10.0, <double>exponent)
