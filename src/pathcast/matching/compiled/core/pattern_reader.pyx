"""A reader for the common part of the subscription language, without Python objects per token.

It reads paths with the axes child, descendant and attribute, and predicates: paths, comparisons of
a path or `.` with a constant, `contains`, `starts-with`, `string-length`, `count`, positions,
`and`, `or`, `not()`. Anything else, and every error, is left to the parser in `pathcast.xpath`,
which stays the reference: for each text that both accept they give the same pattern.

The grammar is that of XPath 1.0, by recursive descent. A path with its comparison becomes a
condition in canonical form at once (`PatternArena`). Cost: a few microseconds per expression, most
of them for the order of conditions.

>>> from pathcast.matching.compiled.core.labels import Vocabulary
>>> reader = PatternReader(Vocabulary())
>>> reader.read("item[@lang = 'en' and price<10.50]/title"), reader.text()
(True, ("//item[@lang[. = 'en']][price[. < 10.5]]/title", ()))
>>> reader.read("//item[price * 2 > 30]")
False
"""

from cpython.unicode cimport PyUnicode_GET_LENGTH
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memchr, memcmp

from pathcast.matching.compiled.core.labels cimport (
    ANY,
    COMMENT,
    FIRST_NAME,
    NAME_KEY,
    NODE,
    QUALIFIED_NAME_KEY,
    TEXT,
)
from pathcast.matching.compiled.core.pattern_arena cimport (
    AND_CONDITION,
    ATTRIBUTE_STEP,
    CHILD_STEP,
    CONTAINS_VALUE,
    COUNT_CONDITION,
    DESCENDANT_OR_SELF_STEP,
    DESCENDANT_STEP,
    FIRST_CONDITION,
    LENGTH_VALUE,
    NUMBER_VALUE,
    OR_CONDITION,
    POSITION_CONDITION,
    STARTS_WITH_VALUE,
    STRING_VALUE,
    VALUE_CONDITION,
    ArenaCondition,
    PatternArena,
    write_chars,
)
from pathcast.matching.compiled.core.predicates cimport (
    DIFFERENT,
    EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
)
from pathcast.vectors cimport push

from pathcast.xpath import namespaces as xml_names
from pathcast.xpath.numbers import canonical_number, number

cdef enum:
    _MAX_TEXT = 1000  # bytes; the XPath parser checks the language's limits on longer texts
    _MAX_DEPTH = 50  # open brackets
    _EXACT_DIGITS = 15  # a number of so many digits is its own canonical form
    _NO_OPERATOR = -1

cdef int32_t[6] _MIRRORED = [EQUAL, DIFFERENT, GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL]


cdef inline int _name_byte(unsigned char byte) noexcept nogil:
    """Return 2 if a byte may start a name, 1 if it may only continue one, else 0.

    Bytes of other characters count as 1, so that a name never ends before one.
    """
    if c"a" <= byte <= c"z" or c"A" <= byte <= c"Z" or byte == c"_":
        return 2
    return c"0" <= byte <= c"9" or byte == c"-" or byte == c"." or byte >= 128


cdef inline Operand no_operand() noexcept nogil:
    return Operand(UNSUPPORTED, 0, 0, 0)


cdef class PatternReader(PatternArena):
    """Reads one pattern at a time."""

    def read(self, str text not None, dict namespaces=None):
        """Read a subscription; return False if the text is left to the XPath parser.

        The caller has checked the namespaces.
        """
        if PyUnicode_GET_LENGTH(text) > _MAX_TEXT:
            return False
        try:
            encoded = text.encode()
        except UnicodeEncodeError:
            return False
        self._namespaces = namespaces
        return self._read_bytes(encoded)

    def text(self):
        """Return the canonical text of the pattern, and its namespaces."""
        cdef int32_t step
        cdef bytes key
        uris = set()
        if not self._has_namespaces:
            return self.text_of(self.root, None, True), ()
        for step in range(self.step_count):
            key = self.vocabulary.encoded[self.steps[step].test]
            if key.startswith(b"{"):
                uris.add(key[1:].rpartition(b"}")[0].decode())
        uris.discard(xml_names.XML_NAMESPACE)
        prefixes = {uri: f"n{index}" for index, uri in enumerate(sorted(uris), 1)}
        encoded = {uri.encode(): prefix.encode() for uri, prefix in prefixes.items()}
        encoded[xml_names.XML_NAMESPACE.encode()] = b"xml"
        declared = tuple([(prefix, uri) for uri, prefix in prefixes.items()])
        return self.text_of(self.root, encoded, True), declared

    cdef bint _read_bytes(self, bytes text) except -1:
        cdef Operand operand
        self.clear()
        self._text = text
        self._length = len(text)
        self._at = self._depth = self._open_predicates = 0
        self._has_namespaces = False
        if self._length > _MAX_TEXT:
            return False
        operand = self._read_or()
        self._skip_space()
        if operand.kind == UNSUPPORTED or self._at < self._length:
            return False
        self.root = self._truth(operand)
        return self.root >= 0

    # tokens

    cdef void _skip_space(self) noexcept:
        while self._at < self._length and self._text[self._at] in b" \t\r\n":
            self._at += 1

    cdef bint _take(self, unsigned char byte) noexcept:
        """Consume a byte, after white space."""
        self._skip_space()
        if self._at < self._length and self._text[self._at] == byte:
            self._at += 1
            return True
        return False

    cdef bint _take_word(self, const char *word, Py_ssize_t size) noexcept:
        """Consume the name of an operator, after white space."""
        self._skip_space()
        if (
            self._at + size < self._length
            and memcmp(self._text + self._at, word, <size_t>size) == 0
            and not _name_byte(self._text[self._at + size])
            and self._text[self._at + size] != c":"
        ):
            self._at += size
            return True
        return False

    # expressions, lowest precedence first

    cdef Operand _read_or(self) except *:
        return self._read_chain(OR_CONDITION)

    cdef Operand _read_chain(self, int32_t kind) except *:
        """Read operands that `or` joins, each of them operands that `and` joins."""
        cdef Py_ssize_t mark = self.stack.size
        cdef bint first = True, another = True
        cdef Operand operand
        cdef int32_t condition
        while another:
            if kind == OR_CONDITION:
                operand = self._read_chain(AND_CONDITION)
                another = self._take_word(b"or", 2)
            else:
                operand = self._read_comparison()
                another = self._take_word(b"and", 3)
            if operand.kind == UNSUPPORTED or (first and not another):
                return operand
            condition = self._truth(operand)
            if condition < 0:
                return no_operand()
            push(&self.stack, condition)
            first = False
        return Operand(BOOLEAN, self.connect(kind, mark), 0, 0)

    cdef Operand _read_comparison(self) except *:
        cdef Operand left = self._read_operand(), right
        cdef int32_t op
        if left.kind == UNSUPPORTED:
            return left
        op = self._comparison_operator()
        if op == _NO_OPERATOR:
            return left
        right = self._read_operand()
        if right.kind == UNSUPPORTED:
            return right
        if left.kind == NUMBER or left.kind == STRING or left.kind == LAST:
            if right.kind != NUMBER and right.kind != STRING:
                return self._compare(right, _MIRRORED[op], left)
        return self._compare(left, op, right)

    cdef int32_t _comparison_operator(self) noexcept:
        cdef unsigned char first
        cdef bint equal
        self._skip_space()
        if self._at >= self._length:
            return _NO_OPERATOR
        first = self._text[self._at]
        equal = self._at + 1 < self._length and self._text[self._at + 1] == c"="
        if first == c"=" and not equal:
            self._at += 1
            return EQUAL
        if first == c"!" and equal:
            self._at += 2
            return DIFFERENT
        if first == c"<" or first == c">":
            self._at += 1 + equal
            if first == c"<":
                return LESS_OR_EQUAL if equal else LESS
            return GREATER_OR_EQUAL if equal else GREATER
        return _NO_OPERATOR

    cdef Operand _compare(self, Operand left, int32_t op, Operand right) except *:
        """Return the comparison with a constant, or of positions."""
        cdef Py_ssize_t mark = self.stack.size
        cdef int32_t value, index, condition
        if left.kind == POSITION or left.kind == LAST:
            return self._compare_position(left, op, right)
        if left.kind == COUNT and right.kind == NUMBER and self._small_integer(right) >= 2:
            condition = self.add_condition(
                ArenaCondition(
                    COUNT_CONDITION, 0, self.selection(left.first), 0, 0, op, 0, 0,
                    right.chars, right.second,
                )
            )
            return Operand(BOOLEAN, condition, 0, 0)
        if left.kind == LENGTH and right.kind == NUMBER:
            value = self._add_value(LENGTH_VALUE, op, right.chars, right.second)
            condition = value
            if left.second:
                condition = self._string_test(left.first, value)
            return Operand(BOOLEAN, condition, 0, 0)
        if left.kind != NODE_SET:
            return no_operand()
        if right.kind == NUMBER:
            value = self._add_value(NUMBER_VALUE, op, right.chars, right.second)
        elif right.kind == STRING and (op == EQUAL or op == DIFFERENT):
            value = self._add_value(STRING_VALUE, op, right.chars, right.second)
        else:
            return no_operand()
        for index in range(left.second):
            condition = self.existence(self.lists.at[left.first + index], value)
            push(&self.stack, condition)
        return Operand(BOOLEAN, self.connect(OR_CONDITION, mark), 0, 0)

    cdef Operand _compare_position(self, Operand left, int32_t op, Operand right) except *:
        cdef int64_t bound = self._small_integer(right) if right.kind == NUMBER else -1
        cdef bint right_last = right.kind == LAST and left.kind == POSITION
        if self._open_predicates == 0:
            return no_operand()
        if right_last:
            if op == LESS_OR_EQUAL or op == GREATER:
                return no_operand()  # always or never true
        elif bound < 1 or (bound == 1 and (op == GREATER_OR_EQUAL or op == LESS)):
            return no_operand()
        return Operand(
            BOOLEAN,
            self.add_condition(
                ArenaCondition(
                    POSITION_CONDITION, 1, 0, 0, 0, op, left.kind == LAST, right_last,
                    right.chars, right.second,
                )
            ),
            0,
            0,
        )

    # operands

    cdef Operand _read_operand(self) except *:
        cdef Operand operand
        cdef unsigned char first
        cdef Py_ssize_t start, end, after
        self._skip_space()
        if self._at >= self._length:
            return no_operand()
        first = self._text[self._at]
        if first == c"'" or first == c'"':
            return self._read_literal()
        if c"0" <= first <= c"9":
            return self._read_number(False)
        if first == c"." and self._at + 1 < self._length:
            if c"0" <= self._text[self._at + 1] <= c"9":
                return self._read_number(False)
        if first == c"-":
            self._at += 1
            self._skip_space()
            if self._at < self._length and (
                c"0" <= self._text[self._at] <= c"9" or self._text[self._at] == c"."
            ):
                return self._read_number(True)
            return no_operand()
        if first == c"(":
            self._at += 1
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                return no_operand()
            operand = self._read_or()
            self._depth -= 1
            return operand if operand.kind and self._take(c")") else no_operand()
        if _name_byte(first) == 2:
            start = end = self._at
            while end < self._length and _name_byte(self._text[end]):
                end += 1
            after = end
            while after < self._length and self._text[after] in b" \t\r\n":
                after += 1
            if after < self._length and self._text[after] == c"(":
                if not _is_node_type(self._text + start, end - start):
                    self._at = after + 1
                    return self._read_call(start, end)
        return self._read_union()

    cdef Operand _read_number(self, bint negative) except *:
        cdef Py_ssize_t start = self._at, digits
        cdef bint plain
        cdef int32_t chars = <int32_t>self.chars.size
        cdef bytes spelling
        while self._at < self._length and c"0" <= self._text[self._at] <= c"9":
            self._at += 1
        digits = self._at - start
        plain = 0 < digits <= _EXACT_DIGITS and (self._text[start] != c"0" or digits == 1)
        if self._at < self._length and self._text[self._at] == c".":
            plain = False
            self._at += 1
            while self._at < self._length and c"0" <= self._text[self._at] <= c"9":
                self._at += 1
            if self._at - start == 1:
                return no_operand()
        if self._at < self._length and _name_byte(self._text[self._at]):
            return no_operand()  # an exponent, or an error
        if negative:
            write_chars(&self.chars, b"-", 1)
        if plain:
            write_chars(&self.chars, <const char *>self._text + start, digits)
        else:
            spelling = canonical_number(self._text[start : self._at].decode()).encode()
            write_chars(&self.chars, spelling, len(spelling))
        return Operand(NUMBER, 0, <int32_t>self.chars.size - chars, chars)

    cdef Operand _read_literal(self) except *:
        cdef unsigned char quote = self._text[self._at]
        cdef Py_ssize_t start = self._at + 1, index, size
        cdef int32_t chars = <int32_t>self.chars.size
        cdef const void *end = memchr(
            self._text + start, quote, <size_t>(self._length - start)
        )
        if end == NULL:
            return no_operand()
        size = <const unsigned char *>end - (self._text + start)
        for index in range(start, start + size):
            if self._text[index] < 32 and self._text[index] not in b"\t\r\n":
                return no_operand()
            if self._text[index] == 0xEF and self._text[index + 1] == 0xBF:
                return no_operand()  # perhaps U+FFFE, which no document contains
        write_chars(&self.chars, <const char *>self._text + start, size)
        self._at = start + size + 1
        return Operand(STRING, 0, <int32_t>size, chars)

    cdef Operand _read_call(self, Py_ssize_t start, Py_ssize_t end) except *:
        """Read the arguments of a function; its name lies from `start` to `end`."""
        cdef Operand operand
        cdef bytes name = self._text[start:end]
        cdef int32_t condition
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            return no_operand()
        if name == b"not":
            operand = self._read_or()
            condition = self._truth(operand) if operand.kind else -1
            if condition < 0 or self.conditions[condition].positional:
                return no_operand()
            operand = Operand(BOOLEAN, self.negate(condition), 0, 0)
        elif name == b"contains":
            operand = self._read_search(CONTAINS_VALUE)
        elif name == b"starts-with":
            operand = self._read_search(STARTS_WITH_VALUE)
        elif name == b"position":
            operand = Operand(POSITION, 0, 0, 0)
        elif name == b"last":
            operand = Operand(LAST, 0, 0, 0)
        elif name == b"count" or name == b"string-length":
            self._skip_space()
            if name != b"count" and self._at < self._length and self._text[self._at] == c")":
                operand = Operand(LENGTH, 0, 0, 0)
                if self._open_predicates == 0:
                    return no_operand()
            else:
                operand = self._read_operand()
                if operand.kind != NODE_SET or operand.second != 1:
                    return no_operand()
                operand.first = self.lists.at[operand.first]
                if name == b"count" and self.paths[operand.first].step_count == 0:
                    return no_operand()
                operand.kind = COUNT if name == b"count" else LENGTH
        else:
            return no_operand()
        self._depth -= 1
        return operand if operand.kind and self._take(c")") else no_operand()

    cdef Operand _read_search(self, int32_t value_kind) except *:
        """Read the arguments of contains() or starts-with(): a path and a literal."""
        cdef Operand where = self._read_operand(), keyword
        cdef int32_t value
        if where.kind != NODE_SET or where.second != 1 or not self._take(c","):
            return no_operand()
        keyword = self._read_operand()
        if keyword.kind != STRING or keyword.second == 0:
            return no_operand()
        value = self._add_value(value_kind, EQUAL, keyword.chars, keyword.second)
        return Operand(
            BOOLEAN, self._string_test(self.lists.at[where.first], value), 0, 0
        )

    cdef int32_t _add_value(
        self, int32_t kind, int32_t op, int32_t chars, int32_t size
    ) except -1:
        return self.add_condition(
            ArenaCondition(VALUE_CONDITION, 0, 0, 0, kind, op, 0, 0, chars, size)
        )

    cdef int32_t _string_test(self, int32_t path, int32_t value) except -2:
        """Return a value condition on the first node of a path, or the empty string."""
        cdef int32_t test, kind
        if self.paths[path].step_count == 0:
            return value
        if self.paths[path].step_count == 1:
            test = self.lists.at[self.paths[path].steps]
            kind = self.vocabulary.kinds.at[self.steps[test].test]
            if (
                self.steps[test].axis == ATTRIBUTE_STEP
                and (kind == NAME_KEY or kind == QUALIFIED_NAME_KEY)
                and not self._holds_for_empty(value)
            ):
                return self.existence(path, value)
        return self.add_condition(
            ArenaCondition(FIRST_CONDITION, 0, self.selection(path), value, 0, 0, 0, 0, 0, 0)
        )

    cdef bint _holds_for_empty(self, int32_t value) except -1:
        """Return whether a value condition holds for the empty string."""
        cdef ArenaCondition condition = self.conditions[value]
        cdef double bound
        if condition.value_kind != LENGTH_VALUE:
            return condition.operand_size == 0
        bound = number(
            self.chars.at[condition.operand : condition.operand + condition.operand_size].decode()
        )
        if condition.op == EQUAL:
            return 0 == bound
        if condition.op == DIFFERENT:
            return 0 != bound
        if condition.op == LESS:
            return 0 < bound
        if condition.op == LESS_OR_EQUAL:
            return 0 <= bound
        return 0 > bound if condition.op == GREATER else 0 >= bound

    cdef int64_t _small_integer(self, Operand operand) noexcept:
        """Return the value of a number of at most nine digits; -1 for others."""
        cdef int64_t value = 0
        cdef int32_t index
        cdef char digit
        if operand.second > 9:
            return -1
        for index in range(operand.second):
            digit = self.chars.at[operand.chars + index]
            if not c"0" <= digit <= c"9":
                return -1
            value = 10 * value + (digit - c"0")
        return value

    # truth

    cdef int32_t _truth(self, Operand operand) except -2:
        """Return the condition that an operand is true; -1 if it is left to the parser."""
        cdef Py_ssize_t mark = self.stack.size
        cdef int32_t index, path
        if operand.kind == BOOLEAN:
            return operand.first
        if operand.kind != NODE_SET:
            return -1
        for index in range(operand.second):
            path = self.lists.at[operand.first + index]
            if self.paths[path].step_count == 0:
                return -1
            path = self.existence(path, -1)
            push(&self.stack, path)
        return self.connect(OR_CONDITION, mark)

    cdef int32_t _predicate(self, Operand operand) except -2:
        """Return the condition of a predicate: a number is a position."""
        if operand.kind == LAST:
            operand = self._compare_position(Operand(POSITION, 0, 0, 0), EQUAL, operand)
        elif operand.kind == NUMBER:
            operand = self._compare_position(Operand(POSITION, 0, 0, 0), EQUAL, operand)
        return self._truth(operand)

    # paths

    cdef Operand _read_union(self) except *:
        cdef Py_ssize_t mark = self.stack.size
        cdef int32_t path, count
        while True:
            path = self._read_path()
            if path < 0:
                return no_operand()
            push(&self.stack, path)
            if not self._take(c"|"):
                break
        count = <int32_t>(self.stack.size - mark)
        return Operand(NODE_SET, self.pop_list(mark), count, 0)

    cdef int32_t _read_path(self) except -2:
        """Return the number of a path; -1 if it is left to the parser."""
        cdef Py_ssize_t mark = self.stack.size
        cdef bint absolute = False, deep = False
        if self._take(c"/"):
            absolute = True
            if self._at < self._length and self._text[self._at] == c"/":
                self._at += 1
                deep = True
        elif self._open_predicates == 0:
            absolute = deep = True  # outside predicates it matches at any depth
        while True:
            if not self._read_step(&deep):
                return -1
            if not self._take(c"/"):
                break
            if self.stack.size > mark:
                if self.steps[self.stack.at[self.stack.size - 1]].axis == ATTRIBUTE_STEP:
                    return -1
            if self._at < self._length and self._text[self._at] == c"/":
                self._at += 1
                deep = True
        if deep or (absolute and self.stack.size == mark):
            return -1
        return self.add_path(absolute, mark)

    cdef bint _read_step(self, bint *deep) except -1:
        """Push a step; `deep` if // stands before it. Return False if it is left to the parser."""
        cdef int32_t test, step, axis = CHILD_STEP
        cdef Py_ssize_t mark
        if self._take(c"."):
            return not (
                self._at < self._length
                and (self._text[self._at] == c"." or self._text[self._at] == c"[")
            )
        if self._take(c"@"):
            axis = ATTRIBUTE_STEP
        test = self._read_test()
        if test < 0 or (axis == ATTRIBUTE_STEP and ANY < test < FIRST_NAME):
            return False
        mark = self.stack.size
        if not self._read_predicates(axis == ATTRIBUTE_STEP):
            return False
        step = self.add_step(axis, test, mark)
        if deep[0]:
            deep[0] = False
            if axis == CHILD_STEP and not self.steps[step].positional:
                self.steps[step].axis = DESCENDANT_STEP
            else:
                push(&self.stack, self.add_step(DESCENDANT_OR_SELF_STEP, NODE, self.stack.size))
        push(&self.stack, step)
        return True

    cdef int32_t _read_test(self) except -2:
        """Return the code of a node test; -1 if it is left to the parser."""
        cdef Py_ssize_t start, end
        cdef int32_t code
        self._skip_space()
        if self._at >= self._length:
            return -1
        if self._text[self._at] == c"*":
            self._at += 1
            return ANY
        start = self._at
        code = self._read_name()
        end = self._at
        self._skip_space()
        if self._at < self._length and self._text[self._at] == c":":
            return -1  # an axis
        if self._at < self._length and self._text[self._at] == c"(":
            if not _is_node_type(self._text + start, end - start):
                return -1
            self._at += 1
            if not self._take(c")"):
                return -1
            if end - start == 4:
                return TEXT if self._text[start] == c"t" else NODE
            return COMMENT
        return code

    cdef int32_t _read_name(self) except -2:
        """Return the code of a name, with or without a prefix; -1 if it is left to the parser."""
        cdef Py_ssize_t start = self._at, colon
        cdef str key
        while self._at < self._length and _name_byte(self._text[self._at]):
            if self._text[self._at] >= 128:
                return -1
            self._at += 1
        if self._at == start or _name_byte(self._text[start]) != 2:
            return -1
        colon = self._at
        if colon + 1 >= self._length or self._text[colon] != c":" or self._text[colon + 1] == c":":
            return self.vocabulary.intern(self._text[start:colon].decode())
        prefix = self._text[start:colon].decode()
        self._at += 1
        if self._text[self._at] == c"*":
            self._at += 1
        elif _name_byte(self._text[self._at]) == 2:
            while self._at < self._length and _name_byte(self._text[self._at]):
                if self._text[self._at] >= 128:
                    return -1
                self._at += 1
        else:
            return -1
        uri = xml_names.XML_NAMESPACE if prefix == "xml" else None
        if self._namespaces is not None:
            uri = self._namespaces.get(prefix, uri)
        if uri is None:
            return -1
        self._has_namespaces = True
        key = "{" + uri + "}" + self._text[colon + 1 : self._at].decode()
        return self.vocabulary.intern(key)

    cdef bint _read_predicates(self, bint attribute) except -1:
        """Push the conditions of a step; return False if one is left to the parser."""
        cdef Operand operand
        cdef int32_t condition
        while self._take(c"["):
            self._depth += 1
            self._open_predicates += 1
            if self._depth > _MAX_DEPTH:
                return False
            operand = self._read_or()
            if operand.kind == UNSUPPORTED or not self._take(c"]"):
                return False
            condition = self._predicate(operand)
            self._open_predicates -= 1
            self._depth -= 1
            if condition < 0:
                return False
            if attribute and self.conditions[condition].kind != VALUE_CONDITION:
                return False
            push(&self.stack, condition)
        return True


cdef bint _is_node_type(const unsigned char *name, Py_ssize_t size) noexcept:
    return (
        (size == 4 and (memcmp(name, b"text", 4) == 0 or memcmp(name, b"node", 4) == 0))
        or (size == 7 and memcmp(name, b"comment", 7) == 0)
    )
