// refused with 71
class MethodMadePublic { public void one() {} }
