/** The class that both agents change; with other bodies. */
public class Target {
    int pick(int n) {
        switch (n) {
            case 1: return 21;
            case 2: return 22;
            default: return n > 5 ? 26 : 23;
        }
    }

    String mark() {
        return "plain";
    }
}
