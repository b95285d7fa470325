/* Which questions and steps are shown.  Pure functions. */

/** Whether `condition` (one, a list of which all must hold, or nothing) holds; `answer(name)` is the answer to a question
    that is shown, undefined while there is none. */
export function holds(condition, answer) {
  return [condition ?? []].flat().every(({ question, is }) => {
    const given = answer(question);
    return Array.isArray(given) ? given.some((each) => is.includes(each)) : given !== undefined && is.includes(given);
  });
}
