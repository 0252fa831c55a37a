cdef double number_of(const char *text, Py_ssize_t size) noexcept nogil
