import * as z from 'zod'

/** How a Turn ended. `refused`: nothing of it could be used, and it projects to nothing. */
export const TurnStatus = z.enum(['completed', 'failed', 'interrupted', 'refused'])
export type TurnStatus = z.infer<typeof TurnStatus>
