/** Waits for a lock that another thread holds for a while. */
public class Queue {
    static final StringBuilder COUNTER = new StringBuilder();

    public static void main(String[] arguments) throws InterruptedException {
        Thread waiting = Thread.currentThread();
        Thread holder = new Thread(() -> hold(waiting));
        synchronized (waiting) {
            holder.start();
            waiting.wait();
        }
        synchronized (COUNTER) {
            COUNTER.append("served");
        }
        System.out.println(COUNTER);
    }

    static void hold(Thread waiting) {
        synchronized (COUNTER) {
            synchronized (waiting) {
                waiting.notify();
            }
            while (waiting.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
            try {
                Thread.sleep(200);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
