class MethodRetyped { void one(int a) {} }
