class LambdaAdded { Runnable one() { return null; } }
