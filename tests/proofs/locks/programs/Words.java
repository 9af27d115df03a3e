// Scenarios of monitors, locks, conditions, semaphores and latches. All run at once, each with objects of its own.
// Prints for each scenario whether its threads have ended after a time, and whether one has thrown an exception.

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

public class Words {
    interface Body {
        void run() throws Exception;
    }

    static final long WAIT = 150;

    final Object e = new Object(), f = new Object();
    final ReentrantLock lock = new ReentrantLock(), other = new ReentrantLock();
    final Condition condition = lock.newCondition();
    final ReentrantReadWriteLock j = new ReentrantReadWriteLock();
    final Condition x = j.writeLock().newCondition();
    final StampedLock s = new StampedLock();
    final Semaphore p = new Semaphore(1), q = new Semaphore(2, true), r = new Semaphore(2);
    final CountDownLatch two = new CountDownLatch(2);
    final SynchronousQueue<Integer> meet = new SynchronousQueue<>();
    final LinkedBlockingQueue<Integer> full = new LinkedBlockingQueue<>(1);
    volatile int n = 0;

    static void pause() throws Exception {
        Thread.sleep(6 * WAIT);
    }

    void inLoop() throws Exception {
        synchronized (e) {
            while (n == 0) e.wait();
        }
    }

    void under(Object outer, Object inner) throws Exception {
        synchronized (outer) {
            pause();
            synchronized (inner) {
                n = 0;
            }
        }
    }

    void under(ReentrantLock outer, ReentrantLock inner) throws Exception {
        outer.lock();
        pause();
        inner.lock();
        inner.unlock();
        outer.unlock();
    }

    void notifies(boolean everyone) {
        synchronized (e) {
            n = 1;
            if (everyone) e.notifyAll();
            else e.notify();
        }
    }

    Body[] bodies(String name) {
        return switch (name) {
            case "again, ends" -> new Body[] {() -> { synchronized (e) { synchronized (e) { n = 1; } } lock.lock(); lock.lock(); lock.unlock(); lock.unlock(); }};
            case "monitors AB" -> new Body[] {() -> under(e, f), () -> under(f, e)};
            case "locks AB" -> new Body[] {() -> under(lock, other), () -> under(other, lock)};
            case "released once of two" -> new Body[] {() -> { lock.lock(); lock.lock(); lock.unlock(); }, () -> { lock.lock(); lock.unlock(); }};
            case "notify lost" -> new Body[] {() -> { synchronized (e) { e.notify(); } }, () -> { synchronized (e) { e.wait(); } }};
            case "waits in a loop, ends" -> new Body[] {this::inLoop, () -> notifies(false)};
            case "waits at two levels, ends" -> new Body[] {() -> { synchronized (e) { inLoop(); } }, () -> notifies(false)};
            case "condition of a lock at two levels, ends" -> new Body[] {
                () -> { lock.lock(); lock.lock(); while (n == 0) condition.await(); lock.unlock(); lock.unlock(); },
                () -> { lock.lock(); n = 1; condition.signal(); lock.unlock(); }};
            case "one notify for two" -> new Body[] {this::inLoop, this::inLoop, () -> notifies(false)};
            case "notify all, ends" -> new Body[] {this::inLoop, this::inLoop, () -> notifies(true)};
            case "waits under another monitor" -> new Body[] {() -> { synchronized (f) { inLoop(); } }, () -> { synchronized (f) { notifies(true); } }};
            case "notify without the monitor" -> new Body[] {() -> e.notify()};
            case "wait without the monitor" -> new Body[] {() -> e.wait()};
            case "unlock without the lock" -> new Body[] {() -> lock.unlock()};
            case "signal without the write lock" -> new Body[] {
                () -> { j.writeLock().lock(); j.writeLock().unlock(); x.signal(); }};
            case "downgrade, ends" -> new Body[] {
                () -> { j.writeLock().lock(); j.readLock().lock(); j.writeLock().unlock(); j.readLock().unlock(); },
                () -> { j.readLock().lock(); j.readLock().unlock(); }};
            case "downgraded, others read, ends" -> new Body[] {
                () -> { j.writeLock().lock(); j.readLock().lock(); j.writeLock().unlock(); full.put(1); meet.take(); j.readLock().unlock(); },
                () -> { full.take(); j.readLock().lock(); meet.put(1); j.readLock().unlock(); }};
            case "upgrade" -> new Body[] {() -> { j.readLock().lock(); j.writeLock().lock(); }};
            case "reads past a writer, ends" -> new Body[] {
                () -> { j.readLock().lock(); pause(); j.readLock().lock(); j.readLock().unlock(); j.readLock().unlock(); },
                () -> { j.writeLock().lock(); j.writeLock().unlock(); }};
            case "writes and reads again, ends" -> new Body[] {
                () -> { j.writeLock().lock(); j.writeLock().lock(); j.readLock().lock(); j.readLock().unlock(); j.writeLock().unlock(); j.writeLock().unlock(); },
                () -> { j.writeLock().lock(); j.writeLock().unlock(); }};
            case "stamped, written again" -> new Body[] {() -> { s.writeLock(); s.writeLock(); }};
            case "stamped, read again" -> new Body[] {
                () -> { long one = s.readLock(); pause(); long again = s.readLock(); s.unlockRead(again); s.unlockRead(one); },
                () -> s.unlockWrite(s.writeLock())};
            case "stamped, read again, ends" -> new Body[] {
                () -> { long one = s.readLock(); pause(); long again = s.readLock(); s.unlockRead(again); s.unlockRead(one); },
                () -> s.unlockRead(s.readLock())};
            case "semaphore, twice" -> new Body[] {() -> { p.acquire(); p.acquire(); }};
            case "semaphore, released by another, ends" -> new Body[] {() -> { p.acquire(); p.acquire(); }, () -> p.release()};
            case "semaphore and a lock" -> new Body[] {
                () -> { p.acquire(); pause(); lock.lock(); lock.unlock(); p.release(); },
                () -> { lock.lock(); pause(); p.acquire(); p.release(); lock.unlock(); }};
            case "two permits at once, ends" -> new Body[] {
                () -> { q.acquire(2); q.release(2); }, () -> { q.acquire(); q.release(); }, () -> { q.acquire(2); q.release(2); }};
            case "behind one that wants two" -> new Body[] {
                () -> { q.acquire(); pause(); q.acquire(); q.release(2); }, () -> { q.acquire(2); q.release(2); }};
            case "past one that wants two, ends" -> new Body[] {
                () -> { r.acquire(); pause(); r.acquire(); r.release(2); }, () -> { r.acquire(2); r.release(2); }};
            case "one permit too few" -> new Body[] {() -> { r.acquire(2); r.acquire(2); }, () -> r.release()};
            case "waits for a time, ends" -> new Body[] {
                () -> { synchronized (f) { synchronized (e) { e.wait(2 * WAIT); } } }, () -> { synchronized (f) { n = 0; } }};
            case "a signal to one that gives up" -> new Body[] {
                () -> { lock.lock(); condition.await(1, TimeUnit.MINUTES); lock.unlock(); },
                () -> { lock.lock(); while (n == 0) condition.await(); lock.unlock(); },
                () -> { lock.lock(); n = 1; condition.signal(); lock.unlock(); }};
            case "latch, ends" -> new Body[] {() -> two.await(), () -> two.countDown(), () -> two.countDown()};
            case "latch, one short" -> new Body[] {() -> two.await(), () -> two.countDown()};
            default -> throw new IllegalArgumentException(name);
        };
    }

    public static void main(String[] names) throws Exception {
        Map<String, List<Thread>> threads = new LinkedHashMap<>();
        Map<String, Throwable> thrown = new java.util.concurrent.ConcurrentHashMap<>();
        for (String name : names) {
            List<Thread> own = new ArrayList<>();
            long after = 0;
            for (Body body : new Words().bodies(name)) {
                long delay = after++ * WAIT;
                Thread thread = new Thread(() -> {
                    try {
                        Thread.sleep(delay);
                        body.run();
                    } catch (Throwable problem) {
                        thrown.put(name, problem);
                    }
                }, name);
                thread.setDaemon(true);
                own.add(thread);
            }
            threads.put(name, own);
        }
        threads.values().forEach(own -> own.forEach(Thread::start));
        long end = System.currentTimeMillis() + 20 * WAIT;
        for (List<Thread> own : threads.values()) {
            for (Thread thread : own) thread.join(Math.max(1, end - System.currentTimeMillis()));
        }
        var beans = ManagementFactory.getThreadMXBean();
        long[] circle = beans.findDeadlockedThreads();
        List<String> detected = new ArrayList<>();
        for (long id : circle == null ? new long[0] : circle) detected.add(beans.getThreadInfo(id).getThreadName());
        threads.forEach((name, own) -> {
            String how = own.stream().allMatch(t -> !t.isAlive()) ? "ends" : "stands";
            if (thrown.containsKey(name)) how = thrown.get(name).getClass().getSimpleName();
            System.out.println(name + ": " + how + (detected.contains(name) ? ", detected" : ""));
        });
    }
}
