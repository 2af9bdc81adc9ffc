import io.github.classhook.advice.*;

/** Makes the second half of a method fail. */
@Advice("Shop#fail")
class Rethrowing {
    @OnEntry(rethrow = true)
    static void enter() {
        Fault.raise(new java.io.IOException("by the advice"));
    }

    static class Fault {
        static <T extends Throwable> void raise(Throwable thrown) throws T {
            @SuppressWarnings("unchecked")
            T any = (T) thrown;
            throw any;
        }
    }
}
