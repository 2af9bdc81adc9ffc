class MethodRetyped { void one(long a) {} }
