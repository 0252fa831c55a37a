from pathcast.matching.compiled.core.course import Course
from pathcast.matching.compiled.core.walk import Walk

class Branches:
    work: int
    def __init__(self, course: Course, walk: Walk) -> None: ...
