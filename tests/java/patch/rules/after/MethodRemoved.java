// refused with 67
class MethodRemoved { void one() {} }
