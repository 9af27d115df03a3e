// Virtual threads that wait for a lock: with two carriers, both kept by pinned threads, the first one in line cannot go on.
// Java 21 pins a thread inside synchronized; Java 24 only in native frames and class initializers.
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

public class Virtual {
    static final ReentrantLock CACHE = new ReentrantLock();

    static void use() {
        CACHE.lock();
        CACHE.unlock();
    }

    static class First {
        static { use(); }
        static void touch() {}
    }

    static class Second {
        static { use(); }
        static void touch() {}
    }

    static void inMonitor() {
        synchronized (new Object()) {
            use();
        }
    }

    /** Starts virtual threads that come to the lock one after the other while main holds it, and waits for their end. */
    static String run(List<Runnable> bodies) throws InterruptedException {
        CACHE.lock();
        List<Thread> threads = new java.util.ArrayList<>();
        for (Runnable body : bodies) {
            Thread thread = Thread.startVirtualThread(body);
            while (!CACHE.hasQueuedThread(thread)) Thread.sleep(1);
            threads.add(thread);
        }
        CACHE.unlock();
        for (Thread thread : threads) {
            if (!thread.join(java.time.Duration.ofSeconds(5))) return "stands";
        }
        return "ends";
    }

    public static void main(String[] arguments) throws InterruptedException {
        System.out.println(switch (arguments[0]) {
            case "in monitors" -> run(List.of(Virtual::use, Virtual::inMonitor, Virtual::inMonitor));
            case "pinned" -> run(List.of(Virtual::use, First::touch, Second::touch));
            case "one pinned" -> run(List.of(Virtual::use, First::touch));
            case "not pinned" -> run(List.of(Virtual::use, Virtual::use, Virtual::use));
            default -> throw new IllegalArgumentException(arguments[0]);
        });
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
