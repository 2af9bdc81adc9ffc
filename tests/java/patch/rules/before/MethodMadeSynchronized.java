class MethodMadeSynchronized { void one() {} }
