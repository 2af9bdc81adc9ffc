// refused with 63
class MethodRetyped { void one(long a) {} }
