class MethodAdded { void one() {} }
