/** Name and code of the error that work rejects with, or `nothing`. */
export async function thrown(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'nothing',
    (error: unknown) =>
      error instanceof Error ? { name: error.name, code: Reflect.get(error, 'code') } : error,
  )
}
