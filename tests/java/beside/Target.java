/** The class that both agents change. */
public class Target {
    int pick(int n) {
        switch (n) {
            case 1: return 11;
            case 2: return 12;
            default: return n > 5 ? 16 : 13;
        }
    }

    String mark() {
        return "plain";
    }
}
