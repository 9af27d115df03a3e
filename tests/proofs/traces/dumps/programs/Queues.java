import java.util.concurrent.locks.ReentrantLock;

/** Two threads lock two monitors in opposite orders, and two others two locks; a fifth waits for a signal. */
public class Queues {
    static class Queue {
        synchronized void apply(Node node) throws InterruptedException {
            Thread.sleep(200);
            node.count();
        }

        synchronized void count() {
        }
    }

    static class Node {
        synchronized void refresh(Queue queue) throws InterruptedException {
            Thread.sleep(200);
            queue.count();
        }

        synchronized void count() {
        }
    }

    interface Body {
        void run() throws InterruptedException;
    }

    static void start(String name, Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    static void both(ReentrantLock first, ReentrantLock second) throws InterruptedException {
        first.lock();
        Thread.sleep(200);
        second.lock();
    }

    public static void main(String[] arguments) throws InterruptedException {
        Queue queue = new Queue();
        Node node = new Node();
        ReentrantLock one = new ReentrantLock(), other = new ReentrantLock();
        Object room = new Object();
        start("config", () -> queue.apply(node));
        start("scheduler", () -> node.refresh(queue));
        start("forwards", () -> both(one, other));
        start("backwards", () -> both(other, one));
        start("waiter", () -> {
            synchronized (room) {
                room.wait();
            }
        });
        Thread.sleep(60_000);
    }
}
