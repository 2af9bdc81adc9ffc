import java.lang.instrument.Instrumentation;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.matcher.ElementMatchers;

/** An agent whose advice writes the times of entry and exit into a buffer of the thread. */
public class Peer {
    public static void premain(String arguments, Instrumentation instrumentation) {
        new AgentBuilder.Default()
                .type(ElementMatchers.named("Calls"))
                .transform((builder, type, loader, module, domain) ->
                        builder.visit(Advice.to(Timed.class).on(ElementMatchers.named("empty"))))
                .installOn(instrumentation);
    }

    public static class Timed {
        @Advice.OnMethodEnter
        static long enter() {
            return System.nanoTime();
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Enter long start) {
            Buffer buffer = Buffer.OF_THREAD.get();
            buffer.put(start, System.nanoTime());
        }
    }

    public static class Buffer {
        public static final ThreadLocal<Buffer> OF_THREAD = ThreadLocal.withInitial(Buffer::new);
        private final long[] words = new long[1 << 16];
        private int at;

        public void put(long start, long end) {
            words[at] = start;
            words[at + 1] = end;
            at = at + 2 & words.length - 1;
        }
    }
}
