class LambdaAdded { Runnable one() { return () -> System.out.println(); } }
