class MethodAdded { void one() {} private static void two() {} }
