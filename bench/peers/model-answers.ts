import * as z from 'zod'

/** What model.worker.ts answers: for each contestant the bytes of a call by its kind, and of a text. */
export const ModelAnswers = z.object({
  /** Stands for the id of a call. */
  call_id: z.string(),
  answers: z.record(
    z.string(),
    z.object({ path: z.string(), calls: z.record(z.string(), z.string()), text: z.string() }),
  ),
})
export type ModelAnswers = z.infer<typeof ModelAnswers>

/** One request to the model, by the clock of `process.hrtime`. */
export const ModelRequest = z.object({
  id: z.string(),
  arrived_ms: z.number(),
  answered_ms: z.number(),
})
export type ModelRequest = z.infer<typeof ModelRequest>
