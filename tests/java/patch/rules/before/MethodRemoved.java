class MethodRemoved { void one() {} void two() {} }
