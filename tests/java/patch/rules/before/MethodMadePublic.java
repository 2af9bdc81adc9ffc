class MethodMadePublic { void one() {} }
