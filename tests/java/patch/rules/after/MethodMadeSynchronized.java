// refused with 71
class MethodMadeSynchronized { synchronized void one() {} }
