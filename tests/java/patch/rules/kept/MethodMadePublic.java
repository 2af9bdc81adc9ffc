class MethodMadePublic { public void one() {} }
