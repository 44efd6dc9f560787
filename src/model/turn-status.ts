import * as z from 'zod'

/** How a Turn ended. `refused`: none of its input was usable, and it adds nothing to the Conversation. */
export const TurnStatus = z.enum(['completed', 'failed', 'interrupted', 'refused'])
export type TurnStatus = z.infer<typeof TurnStatus>
