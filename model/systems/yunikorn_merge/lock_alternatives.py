"""The other answers of the interpretations of locks, as what a lock file that amends ``locks/as-written.yaml`` would have."""

ROWS_FOLLOW_ONE_ANOTHER = "closed: true"

ANY_ORDER_OF_A_KIND = """
order: [Queue > Queue, Application > Application, Node > Node]
"""

NODE_IS_HELD_UNTIL_IT_IS_USED = """
operations:
  update_node(Node node):
    line: 200
    steps:
      - rlock node.Partition.Cluster:
          - read node.Partition.Cluster.partitions
          - wlock node.Partition:
              - read node.Partition.nodes
              - write node.Partition.resource
              - wlock node:
                  - write node.usage
"""

CLUSTER_IS_HELD = """
operations:
  commit_proposal(Application app):
    line: 193
    steps:
      - rlock app.Partition.Cluster:
          - read app.Partition.Cluster.partitions
          - wlock app.Partition:
              - read app.Partition.applications
              - read app.Partition.nodes
              - wlock app:
                  - write app.allocations
                  - write app.usage
                  - some Node node in app.Partition:
                      - wlock node:
                          - write node.allocations
                          - write node.usage
                  - read app.queue
              - count_usage(app.Queue)
"""

TWO_OPERATIONS = """
drops: [change_pending_as_argued, argued]
operations:
  change_pending_of_application(Application app):
    line: 198
    steps:
      - get_partition(app.Partition)
      - rlock app.Partition:
          - read app.Partition.applications
      - wlock app:
          - write app.pending
  change_pending_of_queue(Queue queue):
    line: 199
    steps:
      - wlock queue:
          - write queue.pending
threads:
  argued: change_pending_of_application(app)
"""

WITHOUT_THE_PARTITION = """
operations:
  change_pending(Application app):
    line: 198
    steps:
      - get_partition(app.Partition)
      - rlock app.Partition:
          - read app.Partition.applications
      - wlock app:
          - write app.pending
          - read app.queue
      - wlock app.Queue:
          - write app.Queue.pending
"""

TOTAL_IS_COMPUTED = """
drops: [node-resources-are-changed-under-the-partition]
classes:
  Partition:
    in: Cluster
    has: [queues, applications, nodes]
operations:
  update_node(Node node):
    line: 200
    steps:
      - get_partition(node.Partition)
      - wlock node.Partition:
          - read node.Partition.nodes
          - wlock node:
              - write node.usage
"""

LISTS_ARE_COPIES = """
classes:
  Queue:
    in: [Partition, Queue]
    has: [applications, queues, usage, pending, configuration]
rules:
  queues-are-changed-under-their-lock:
    line: 217
    rule: write Queue.applications, queues, usage, pending, configuration needs wlock
  queues-are-read-under-their-lock:
    line: 222
    rule: read Queue.applications, queues, usage, pending, configuration needs rlock
operations:
  sort_queues(Queue queue):
    line: 205
    steps:
      - get_partition(queue.Partition)
      - rlock queue.Partition:
          - read queue.Partition.queues
          - rlock queue:
              - read queue.queues
              - each Queue child in queue:
                  - rlock child:
                      - read child.usage
"""

QUEUE_BY_QUEUE = """
operations:
  try_queue(Queue queue):
    line: 209
    under: rlock queue.Partition
    steps:
      - rlock queue:
          - read queue.queues
          - read queue.usage
          - read queue.applications
      - each Queue child in queue:
          - try_queue(child)
      - some Application app in queue:
          - rlock app:
              - read app.pending
              - read queue.Partition.nodes
              - some Node node in queue.Partition:
                  - rlock node:
                      - read node.usage
"""

ALL_THAT_IS_COMPARED = """
operations:
  find_preemption(Partition partition):
    line: 210
    steps:
      - get_partition(partition)
      - rlock partition:
          - read partition.queues
          - each outermost Queue root in partition:
              - compare_queue(root)
  compare_queue(Queue queue):
    line: 210
    under: rlock queue.Partition
    steps:
      - rlock queue:
          - read queue.usage
          - read queue.queues
          - each Queue child in queue:
              - compare_queue(child)
          - read queue.applications
          - each Application app in queue:
              - rlock app:
                  - read app.allocations
"""

ONE_QUEUE_COUNTS = """
operations:
  count_usage(Queue queue):
    line: 219
    under:
      187: wlock queue.Partition
    steps:
      - wlock queue:
          - write queue.usage
"""

LEAVES_ITS_QUEUE_BY_ITSELF = """
operations:
  delete_app(Application app):
    line: 300
    under:
      299: wlock app.Partition
    steps:
      - wlock app:
          - read app.allocations
          - some Node node in app.Partition:
              - remove_alloc(app, node)
          - read app.reservations
          - some Node node in app.Partition:
              - unreserve_alloc(app, node)
          - read app.queue
          - wlock app.Queue:
              - write app.Queue.applications
"""

COUNTS_THE_QUEUE = """
operations:
  unreserve_alloc(Application app, Node node in app.Partition):
    line: 305
    under: [wlock app.Partition, wlock app]
    steps:
      - wlock node:
          - write node.reservations
      - write app.reservations
      - read app.queue
      - wlock app.Queue:
          - write app.Queue.usage
"""

COMMIT_HOLDS_THE_QUEUE = """
operations:
  commit_proposal(Application app):
    line: 193
    steps:
      - get_partition(app.Partition)
      - wlock app.Partition:
          - read app.Partition.applications
          - read app.Partition.nodes
          - wlock app.Queue:
              - wlock app:
                  - write app.allocations
                  - write app.usage
                  - some Node node in app.Partition:
                      - wlock node:
                          - write node.allocations
                          - write node.usage
              - write app.Queue.usage
"""

EMITTED_WITHOUT_LOCKS = """
operations:
  remove_alloc(Application app, Node node in app.Partition):
    line: 312
    under:
      311: wlock app
    steps:
      - wlock node:
          - write node.allocations
          - write node.usage
      - write app.usage
  release_allocation(Application app):
    line: 191
    steps:
      - get_partition(app.Partition)
      - wlock app.Partition:
          - read app.Partition.applications
          - wlock app:
              - read app.allocations
              - some Node node in app.Partition:
                  - remove_alloc(app, node)
              - read app.queue
          - count_usage(app.Queue)
      - send rm_events
  update_configuration(Cluster cluster):
    line: 266
    steps:
      - wlock cluster:
          - write cluster.partitions
          - read cluster.partitions
          - each Partition partition in cluster:
              - either:
                  - - wlock partition:
                        - each outermost Queue root in partition:
                            - update_queue(root)
                  - - wlock partition:
                        - delete_all_apps(partition)
                        - each outermost Queue root in partition:
                            - delete_queue(root)
                        - delete_nodes(partition)
      - send rm_events
"""

NEVER_FULL = """
channels:
  rm_events: unbounded
"""

PROXY_HAS_A_LOCK = """
classes:
  Proxy: {}
objects:
  rm_proxy: Proxy
threads:
  callback:
    - rlock rm_proxy:
        - wlock cluster: []
  notification:
    - rlock cluster:
        - wlock rm_proxy: []
"""

TWO_THREADS = """
drops: [configuration, commit, preemption, ask, argued, threads.node, sort, application]
threads:
  resource_manager:
    - either:
        - - update_configuration(cluster)
        - - change_pending(app)
        - - update_node(node)
        - - add_application(leaf)
  scheduler:
    - sort_queues(root)
    - find_proposal(partition)
    - commit_proposal(app)
"""
