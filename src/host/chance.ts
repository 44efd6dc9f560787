/** From 0 to 1, different every time. For waiting times, never for ids or keys. */
export const systemChance: () => number = Math.random
