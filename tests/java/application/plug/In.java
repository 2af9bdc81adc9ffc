package plug;

public class In implements Runnable {
    @Override
    public void run() {
    }
}
