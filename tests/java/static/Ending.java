import classhook.runtime.Probes;

/** All ways in which a program may end. */
public class Ending {
    static class Worked {
        static void hit() {}
    }

    static class Late {
        static void hit() {}
    }

    public static void main(String[] arguments) throws Exception {
        Worked.hit();
        switch (arguments[0]) {
            case "reset":
                Probes.reset();
                break;
            case "hook":
                Runtime.getRuntime().addShutdownHook(new Thread() {
                    @Override
                    public void run() {
                        Late.hit();
                        Probes.write();
                    }
                });
                break;
            case "wait":
                System.out.println("ready");
                Thread.sleep(1_000_000);
                break;
            default:
                break;
        }
    }
}
