package bank;

/** Pays in the amount of its first argument, and ends as its second says. */
public class Teller {
    private int balance;

    void payIn(int amount) {
        if (amount < 0) {
            throw new IllegalArgumentException("negative");
        }
        balance += amount;
    }

    static int end(String how) throws Exception {
        switch (how) {
            case "exit":
                System.exit(5);
                return 0;
            case "kill":
                String pid = Long.toString(ProcessHandle.current().pid());
                new ProcessBuilder("kill", "-9", pid).start().waitFor();
                return 1;
            default:
                return 2;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Teller teller = new Teller();
        try {
            teller.payIn(Integer.parseInt(arguments[0]));
        } catch (IllegalArgumentException expected) {
            System.out.println("refused");
        }
        System.out.println("balance " + teller.balance);
        end(arguments[1]);
    }
}

class Vault {
    boolean open;
}
