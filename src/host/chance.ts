/** A random number from 0 to 1. For waiting times only, never for ids or keys. */
export const systemChance: () => number = Math.random
