from pathcast.matching.core.course import Course

class Branches:
    work: int
    def __init__(self, course: Course) -> None: ...
