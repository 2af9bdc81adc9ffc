// refused with 63
class LambdaAdded { Runnable one() { return () -> System.out.println(); } }
