"""Plans as bytes: a tenth of the memory of nested tuples.

A plan (see `pathcast.matching.encode`) is a count and its alternatives. An alternative is its form,
then a path (exact), a count and its paths (general), or a count and its branches (twig). A path is
a count and its labels; a branch is its labels, then a count and its branches. All numbers are 32
bits wide.

>>> plan = [("exact", (49,)), ("twig", (((49,), ()), ((57, 49), ())))]
>>> unpack_plan(pack_plan(plan)) == plan
True
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t

from pathcast.vectors cimport IntVector, free_vector, push

cdef tuple _FORMS = ("exact", "twig", "general")


def pack_plan(alternatives):
    """Return the alternatives of a plan as bytes."""
    cdef IntVector codes = IntVector(NULL, 0, 0)
    cdef int32_t form
    try:
        push(&codes, <int32_t>len(alternatives))
        for name, content in alternatives:
            form = _FORMS.index(name)
            push(&codes, form)
            if form == EXACT_FORM:
                _pack_path(&codes, content)
            elif form == TWIG_FORM:
                _pack_branches(&codes, content)
            else:
                push(&codes, <int32_t>len(content))
                for path in content:
                    _pack_path(&codes, path)
        return PyBytes_FromStringAndSize(
            <char *>codes.at, codes.size * <Py_ssize_t>sizeof(int32_t)
        )
    finally:
        free_vector(&codes)


cdef int _pack_path(IntVector *codes, tuple labels) except -1:
    push(codes, <int32_t>len(labels))
    for label in labels:
        push(codes, label)
    return 0


cdef int _pack_branches(IntVector *codes, tuple branches) except -1:
    push(codes, <int32_t>len(branches))
    for labels, branches_below in branches:
        _pack_path(codes, labels)
        _pack_branches(codes, branches_below)
    return 0


def unpack_plan(bytes packed not None):
    """Return the alternatives that `pack_plan` packed."""
    cdef const int32_t *codes = <const int32_t *>PyBytes_AS_STRING(packed)
    cdef int32_t form, index, count, part
    alternatives = []
    count = _take(&codes)
    for index in range(count):
        form = _take(&codes)
        if form == EXACT_FORM:
            content = _unpack_path(&codes)
        elif form == TWIG_FORM:
            content = _unpack_branches(&codes)
        else:
            content = tuple([_unpack_path(&codes) for part in range(_take(&codes))])
        alternatives.append((_FORMS[form], content))
    return alternatives


cdef int32_t _take(const int32_t **codes) noexcept:
    cdef int32_t code = codes[0][0]
    codes[0] += 1
    return code


cdef tuple _unpack_path(const int32_t **codes):
    cdef int32_t index, count = _take(codes)
    return tuple([_take(codes) for index in range(count)])


cdef tuple _unpack_branches(const int32_t **codes):
    cdef int32_t index, count = _take(codes)
    branches = []
    for index in range(count):
        labels = _unpack_path(codes)
        branches.append((labels, _unpack_branches(codes)))
    return tuple(branches)
