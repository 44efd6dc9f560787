/** Alternates tasks, each until it awaits `next`, in the order of their first `next`; after `end` the others continue alone. */
export function takingTurns(tasks = 2) {
  let running = tasks
  const waiting: (() => void)[] = []
  const wakeNext = () => {
    if (waiting.length >= running) waiting.shift()?.()
  }
  return {
    next: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve)
        wakeNext()
      }),
    end: () => {
      running -= 1
      wakeNext()
    },
  }
}
