package bank;

import java.util.ArrayList;
import java.util.List;

/** Collects transfers while it is open. */
final class Ledger implements AutoCloseable {
    private final List<Transfer> transfers = new ArrayList<>();
    private boolean open = true;

    void add(Transfer transfer) {
        if (!open) {
            throw new IllegalStateException("the ledger is closed");
        }
        transfers.add(transfer);
    }

    long total() {
        return transfers.stream().filter(transfer -> transfer.cents() > 0).mapToLong(Transfer::cents).sum();
    }

    List<Transfer> transfers() {
        return transfers;
    }

    @Override
    public void close() {
        open = false;
    }
}
