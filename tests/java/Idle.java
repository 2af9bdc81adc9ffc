// Says that it is up, then waits until its standard input ends.
public class Idle {
    public static void main(String[] args) throws Exception {
        System.out.println("up");
        while (System.in.read() >= 0) {
            // keep waiting
        }
        System.out.println("down");
    }
}
