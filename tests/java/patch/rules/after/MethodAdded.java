// refused with 63
class MethodAdded { void one() {} private static void two() {} }
