import io.github.classhook.advice.*;

/** Records a Java record. */
@Advice({"Shop#add", "Shop$Greeter#*"})
final class RecordingRecords {
    private record Called(String method, byte a, long nanos, float ratio, Class<?> type, Object self) {}

    @OnEntry
    static long start() {
        return System.nanoTime();
    }

    @OnExit
    static void end(@FromEntry long start, @Method String method, @This Object self) {
        Events.record(new Called(method, (byte) 7, System.nanoTime() - start, 0.5f, self.getClass(), self));
    }
}
