class MethodRemoved { void one() {} }
